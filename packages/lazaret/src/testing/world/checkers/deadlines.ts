import { marginOf } from '../../../runtime/margin.ts';
import type { Run } from '../ledger.ts';
import type { Checker, Facts } from '../referee.ts';

/** Deadlines are rounded up to whole milliseconds. */
const ROUNDING_MS = 1;

/** M8: a handler is heard until its deadline and no longer; and it had its time, if it is charged for it. */
export const deadlines: Checker = {
  invariant: 'M8',
  over(facts, tell) {
    const { ledger, scenario } = facts;
    for (const life of ledger.lives) {
      for (const run of life.runs) {
        const { end, abandonedAt, process, deadlineAt } = run;
        const lateMs = (abandonedAt ?? end?.at ?? Number.POSITIVE_INFINITY) - deadlineAt;
        if (lateMs > scenario.latenessMs + ROUNDING_MS && !ledger.stoodStill.has(process)) {
          tell('a handler is heard until its deadline', `${life.id} was heard ${Math.round(lateMs)} ms longer`, life);
        }
        const hadMs = run.chargedAt === undefined ? Number.POSITIVE_INFINITY : run.chargedAt - run.startedAt;
        if (hadMs < timeOf(run, facts) / 2) {
          tell('a handler that is charged for its time had it', `${life.id} had ${Math.round(hadMs)} ms`, life);
        }
      }
    }
  },
};

/** How long a handler may take where nothing else has used up its time. */
function timeOf({ handOut }: Run, { scenario: { server } }: Facts): number {
  const { timeoutMs, leaseMs, heartbeat } = handOut.life.queue;
  const capMs = server.shape === 'channel' ? server.consumerTimeoutMs : undefined;
  const isLent = server.shape === undefined || server.shape === 'table';
  const unkeptMs = isLent && !heartbeat ? leaseMs - marginOf(leaseMs) : Number.POSITIVE_INFINITY;
  return Math.min(timeoutMs, unkeptMs, 0.8 * (capMs ?? Number.POSITIVE_INFINITY));
}
