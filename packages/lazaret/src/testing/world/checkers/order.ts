import type { Life } from '../ledger.ts';
import type { Checker, Facts } from '../referee.ts';

/** Messages of a key run in the order in which they were stored, and none after one that is dead. */
export const order: Checker = {
  invariant: 'order',
  started({ handOut: { life, at, end } }, facts, tell) {
    // n.b. what was lost on its way starts when it should not any more.
    if (end !== undefined || life.queue.ordering !== 'key' || !isInOrder(life)) return;
    for (const before of predecessorsOf(life, facts)) {
      const letter = before.letters[0];
      if (letter !== undefined && letter.at < at) {
        tell('a dead key runs nothing', `${life.id} starts after the letter of ${before.id}`, life);
      }
      const isPast =
        letter !== undefined ||
        before.effects.length > 0 ||
        before.runs.some(({ end }) => end?.how === 'skipped') ||
        facts.letters(before) > 0;
      if (!isPast) tell('messages of a key run in order', `${life.id} starts before ${before.id} is done`, life);
    }
  },
};

/** Stored once, and when it was sent. */
function isInOrder({ sends, plan }: Life): boolean {
  return sends.length === 1 && plan.delayMs === 0;
}

function predecessorsOf(life: Life, { ledger }: Facts): readonly Life[] {
  return ledger.lives.filter(
    (other) =>
      other !== life &&
      other.queue === life.queue &&
      other.plan.key === life.plan.key &&
      isInOrder(other) &&
      other.sends[0]!.answer === 'done' &&
      other.sends[0]!.answeredAt! <= life.sends[0]!.at,
  );
}
