import { formatDuration } from 'lazaret/core';
import { BOUNDED, OURS, YOURS } from './arms.ts';
import { CAPACITY, DEGRADED, type Plan, type Scenario } from './plan.ts';
import type { Spread, Summary } from './summary.ts';

const NUMBERS = new Intl.NumberFormat('en-US');
const MINUTE_MS = 60_000;

/** What happens to the dependency. */
const SAYS: Readonly<Record<Scenario, string>> = {
  outage: 'every call fails after 20 ms',
  hang: 'no call is answered',
  brownout: `it answers ${DEGRADED} calls/s`,
  errors: '30 % of calls fail at random',
};

const EVENT: Readonly<Record<Scenario, string>> = {
  outage: 'outage',
  hang: 'hang',
  brownout: 'brown-out',
  errors: 'spell of random errors',
};

export function counted(count: number): string {
  return NUMBERS.format(count);
}

/** 'a 3-minute outage' */
export function eventOf({ scenario, troubleMs }: Plan): string {
  return `a ${troubleMs / MINUTE_MS}-minute ${EVENT[scenario]}`;
}

/** What was simulated. */
export function premise(plan: Plan): string {
  const { scenario, perSecond, instances, concurrency, seeds, tirelessSeeds } = plan;
  const fewer = tirelessSeeds < seeds ? ', one where it is tried for ever' : '';
  return (
    `${capital(eventOf(plan))} (${SAYS[scenario]}) of a dependency that answers ${CAPACITY} calls/s, at ${perSecond} messages/s; ` +
    `${instances} × ${concurrency} handlers; ${seeds === 1 ? 'one seed' : `medians of ${seeds} seeds${fewer}`}.`
  );
}

/** The one sentence: yours, or bounded retries alone, against Lazaret's defaults. */
export function headline(plan: Plan, summaries: readonly Summary[]): string {
  const ours = summaries.find(({ arm }) => arm === OURS)!;
  const yours = summaries.find(({ arm }) => arm === YOURS);
  const other = yours ?? summaries.find(({ arm }) => arm === BOUNDED)!;
  const who = yours === undefined ? 'bounded retries alone' : 'your policy';
  const what = eventOf(plan);
  const [theirs, own] = [other.quarantined.median ?? 0, ours.quarantined.median ?? 0];
  if (theirs === 0 && own === 0) {
    const calls = (of: Summary) => counted(of.callsInTrouble.median ?? 0);
    return (
      `Neither with ${who} nor with Lazaret's defaults does ${what} put a healthy message into the quarantine; ` +
      `they make ${calls(other)} and ${calls(ours)} calls in it.`
    );
  }
  return (
    `With ${who} ${what} puts ${letters(theirs)} into the quarantine; ` +
    `with Lazaret's defaults ${own === 0 ? 'none' : counted(own)}.`
  );
}

/** One arm in one sentence. */
export function verdict({ arm, says, quarantined, recoveredAfterMs, drainedAfterMs }: Summary): string {
  const dead = quarantined.median ?? 0;
  return `${arm} (${says}): ${letters(dead)} quarantined; ${recovery(recoveredAfterMs, drainedAfterMs)}.`;
}

function letters(count: number): string {
  if (count === 0) return 'no healthy message';
  return count === 1 ? '1 healthy message' : `${counted(count)} healthy messages`;
}

function recovery({ median: recovered }: Spread, { median: drained }: Spread): string {
  if (drained !== null) return drained === 0 ? 'nothing to catch up on' : `caught up ${after(drained)} after it`;
  return recovered === null ? 'it never recovered' : 'it had not caught up when the simulation ended';
}

/** 'never' where it did not happen. */
export function after(ms: number | null): string {
  return ms === null ? 'never' : formatDuration(ms);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
