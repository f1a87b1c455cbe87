import { backoffDelay } from './backoff.ts';
import type { Decision, Failure, Outcome } from './outcome.ts';
import type { Policy } from './policy.ts';

/** What is known of the delivery whose handler just ended. */
export interface Facts {
  /** The attempt that just ended: charged failures before it + 1. */
  readonly attempt: number;
  /** `false`: the failure is not this message's own guilt, and costs it nothing. */
  readonly charged: boolean;
  /**
   * The message's `n`-th chance, uniform in [0, 1); the same for the same `n`, so that the delay can be explained later. For an
   * uncharged failure it comes from chance instead: the attempt does not move on, and the same wait would come again and again.
   */
  readonly draw: (n: number) => number;
}

/** What becomes of a delivery after its outcome. Pure: the same arguments, the same decision. */
export function decide(policy: Policy, outcome: Outcome, facts: Facts): Decision {
  switch (outcome.kind) {
    case 'done':
    case 'skip':
      return { verb: 'ack' };
    case 'quarantine':
      return { verb: 'quarantine', reason: 'manual' };
    case 'refused':
      return { verb: 'quarantine', reason: outcome.reason };
    case 'givenBack':
      return { verb: 'release', delayMs: outcome.delayMs };
    // Charged like a failure, whoever is to blame: a handler that says it each time ends in the quarantine, not in a loop.
    case 'retryIn':
      return isLast(policy, facts)
        ? { verb: 'quarantine', reason: 'exhausted' }
        : { verb: 'retry', delayMs: outcome.delayMs };
    case 'failed':
      if (outcome.failure.kind === 'poison') return { verb: 'quarantine', reason: outcome.failure.reason };
      return again(policy, outcome.failure, facts) ?? { verb: 'quarantine', reason: 'exhausted' };
    case 'timeout':
      return again(policy, outcome.failure, facts) ?? { verb: 'quarantine', reason: 'handler-timeout' };
  }
}

/** Another run after a failure that may pass, or `undefined` when this charged one was the last. */
function again(policy: Policy, failure: Failure, facts: Facts): Decision | undefined {
  if (!facts.charged) return { verb: 'release', delayMs: delayAfter(policy, failure, facts) };
  if (isLast(policy, facts)) return undefined;
  return { verb: 'retry', delayMs: delayAfter(policy, failure, facts) };
}

/** The backoff's wait, or what the dependency asked for where that is longer. */
function delayAfter(policy: Policy, failure: Failure, facts: Facts): number {
  const delayMs = backoffDelay(policy.backoff, policy.jitter, attemptOf(policy, facts), facts.draw);
  return Math.max(delayMs, failure.retryAfterMs ?? 0);
}

function isLast(policy: Policy, facts: Facts): boolean {
  return attemptOf(policy, facts) >= policy.maxAttempts;
}

/** A counter that cannot be one fails closed: it counts as the last attempt, never as a fresh start. */
function attemptOf(policy: Policy, facts: Facts): number {
  return Number.isSafeInteger(facts.attempt) && facts.attempt >= 1 ? facts.attempt : policy.maxAttempts;
}

/** What can be seen of a delivery before its handler runs. */
export interface Sighting {
  /** Starts without outcome whose owner is gone. */
  readonly strikes: number;
  readonly bodyBytes: number;
  readonly maxBodyBytes: number;
  /** An earlier message of its key lies in the quarantine. */
  readonly blocked: boolean;
}

/** The outcome of a delivery that must not run, or `undefined` when it may. Its own guilt is named before its neighbour's. */
export function precheck(policy: Policy, sighting: Sighting): Outcome | undefined {
  const { strikes, bodyBytes, maxBodyBytes, blocked } = sighting;
  if (strikes >= policy.crashStrikes) {
    return {
      kind: 'refused',
      reason: 'crash',
      why: `${strikes} starts ended without an outcome: the process died each time`,
    };
  }
  if (bodyBytes > maxBodyBytes) {
    return {
      kind: 'refused',
      reason: 'oversize',
      why: `the body has ${bodyBytes} bytes, maxBody allows ${maxBodyBytes}`,
    };
  }
  if (blocked)
    return { kind: 'refused', reason: 'blocked-key', why: 'an earlier message of its key lies in the quarantine' };
  return undefined;
}
