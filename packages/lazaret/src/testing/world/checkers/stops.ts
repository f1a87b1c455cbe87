import type { Checker, Facts } from '../referee.ts';
import { hasGhosts } from '../scenario.ts';

/** Timers in a row, each of which may be late. */
const TIMERS = 8;

/** M9: a stop is over in time, and leaves nothing behind that it could have given back. */
export const stops: Checker = {
  invariant: 'M9',
  stopped(stop, facts, tell) {
    const tookMs = stop.answeredAt - stop.calledAt - stop.pausedMs;
    const allowedMs = stop.withinMs + TIMERS * facts.scenario.latenessMs + 1;
    if (tookMs > allowedMs) {
      tell('a stop is over in time', `${stop.process} took ${Math.round(tookMs)} ms of ${stop.withinMs} ms`);
    }
    const { unsettled } = stop.counts;
    const left = [...facts.ledger.inHand(stop.process)].filter(
      ({ leaseEndsAt, isGivenUp }) => leaseEndsAt > stop.answeredAt && !isGivenUp,
    );
    if (left.length > unsettled && stop.undisturbed && isRoomy(stop.withinMs, facts)) {
      const what = `${stop.process} leaves ${left.map(({ life }) => life.id).join(', ')}, and says ${unsettled}`;
      tell('a stop gives back what it cannot finish', what, left[0]!.life);
    }
  },
};

/** There was time to tell the server, and for a poll that nothing ends before its time. */
function isRoomy(withinMs: number, { scenario }: Facts): boolean {
  const { latencyMs, latenessMs, waitMs } = scenario;
  const pollMs = hasGhosts(scenario) ? waitMs : 0;
  return withinMs >= pollMs + 20 * (latencyMs[1] + latenessMs);
}
