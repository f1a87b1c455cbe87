import type { Checker } from '../referee.ts';
import { countsHandOuts } from '../scenario.ts';

/** Dates that a header carries are whole milliseconds of a wall clock; the rest of a staged delay is rounded to the grain. */
const ROUNDING_MS = 1;

/** M5: no attempt starts before its time. */
export const notBefore: Checker = {
  invariant: 'M5',
  started({ handOut: { life }, attempt, startedAt }, { scenario }, tell) {
    const promisedAt = life.notBefore.get(attempt);
    if (promisedAt === undefined || countsHandOuts(scenario)) return;
    // n.b. to a journal two messages of one id are one: each goes on where the other has come to.
    if (scenario.journal === true && life.sends.filter(({ answer }) => answer !== 'not stored').length > 1) return;
    const earlyMs = promisedAt - startedAt;
    const grainMs = scenario.server.limits?.delayGrainMs ?? 0;
    if (earlyMs <= 2 * scenario.skewMs + grainMs + ROUNDING_MS) return;
    tell('no attempt starts early', `attempt ${attempt} of ${life.id} starts ${Math.ceil(earlyMs)} ms early`, life);
  },
};
