import type { Life } from '../ledger.ts';
import type { Checker } from '../referee.ts';
import { countsHandOuts } from '../scenario.ts';

/** M4: only failures raise the attempt, never beyond the last one; and starts without outcome are four at most. */
export const charges: Checker = {
  invariant: 'M4',
  started({ handOut: { life }, attempt, strikes }, { scenario }, tell) {
    const { maxAttempts } = life.queue;
    if (attempt > maxAttempts) tell('an attempt is not beyond the last', `${life.id} starts attempt ${attempt}`, life);
    if (strikes >= 4) tell('four strikes are not started again', `${life.id} starts with ${strikes} strikes`, life);
    if (!countsHandOuts(scenario) && attempt > 1 + failuresOf(life)) {
      const what = `${life.id} starts attempt ${attempt} after ${failuresOf(life)} failures`;
      tell('only a failure raises the attempt', what, life);
    }
  },
  over({ scenario, ledger }, tell) {
    if (countsHandOuts(scenario)) return;
    for (const life of ledger.lives) {
      const isExhausted = life.letters.some(({ reason }) => reason === 'exhausted' || reason === 'handler-timeout');
      if (!isExhausted || failuresOf(life) >= life.queue.maxAttempts) continue;
      const what = `${life.id} is exhausted after ${failuresOf(life)} failures of ${life.queue.maxAttempts}`;
      tell('a letter says exhausted after all attempts', what, life);
    }
  },
};

/** Failures and deadlines. An abort is none by itself: its deadline or its loss came before. */
function failuresOf({ runs }: Life): number {
  return runs.filter(
    ({ end, abandonedAt }) => end?.how === 'failed' || end?.how === 'aborted' || abandonedAt !== undefined,
  ).length;
}
