import { fail } from 'node:assert/strict';
import type { Harness } from './harness.ts';

export interface Patience {
  /** Time passes in steps of at most so much while something is waited for. */
  readonly stepMs: number;
  /** A driver that is woken, or asked to end something, has answered by then: well within a lease. */
  readonly graceMs: number;
  /** Long enough for a lease to run out, or for a dead process to be noticed, and for what follows. */
  readonly longMs: number;
}

export function patienceOf({ leaseMs }: Harness): Patience {
  return { stepMs: Math.max(1, Math.round(leaseMs / 20)), graceMs: leaseMs / 2, longMs: 4 * leaseMs };
}

/** Lets time pass until `work` is settled, at most `withinMs`. `false`: it still is not. A rejection is left for whoever awaits `work`. */
export async function isSettled(harness: Harness, work: Promise<unknown>, withinMs: number): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  const { stepMs: longestStepMs } = patienceOf(harness);
  const { system } = harness;
  const endAt = system.monotonic() + withinMs;
  // n.b. a real server answers in a millisecond or two; steps that grow cost it little and a long wait few turns.
  for (let stepMs = 0; !settled && (stepMs === 0 || system.monotonic() < endAt); stepMs = Math.max(1, 2 * stepMs)) {
    await harness.pass(Math.min(stepMs, longestStepMs, Math.max(1, endAt - system.monotonic())));
  }
  return settled;
}

/** What `work` comes to, while time passes. Fails when it takes longer than `withinMs`. */
export async function soon<T>(harness: Harness, what: string, work: Promise<T>, withinMs: number): Promise<T> {
  if (await isSettled(harness, work, withinMs)) return work;
  return fail(`${what} did not answer within ${withinMs} ms`);
}
