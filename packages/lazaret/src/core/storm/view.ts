import type { Breaker, BreakerState } from './breaker.ts';
import type { Scope } from './scope.ts';

/** How storm control of a queue stands, for people. */
export interface GateView {
  readonly inFlight: number;
  /** Tokens that are there; absent where starts have no rate. */
  readonly tokens?: number;
  /** Of the queue's slots, which all of its processes share, those lent to this one; absent where they have no limit. */
  readonly slots?: number;
  readonly pause: BreakerView & { readonly fingerprint?: string };
  readonly scopes: readonly ScopeView[];
  /** Fingerprints that go no further into the quarantine. */
  readonly fused: readonly string[];
  /** Fingerprints that are nobody's fault. */
  readonly systemic: readonly string[];
}

export interface BreakerView {
  readonly state: BreakerState;
  /** Empty where it is closed by itself. */
  readonly why: string;
  /** How long it stays as a person set it; 0 where nobody did. */
  readonly pinnedForMs: number;
}

export interface ScopeView {
  /** Absent for the queue's own. */
  readonly dependency?: string;
  readonly breaker: BreakerView;
  readonly limit: number;
  readonly inFlight: number;
  /** The median latency when nothing of ours queues; absent before the first. */
  readonly baselineMs?: number;
  /** Tokens of the retry budget; below 0 what waiting retries have been promised. */
  readonly budget: number;
}

export function viewOfBreaker(breaker: Breaker, now: number): BreakerView {
  return { state: breaker.state(now), why: breaker.why(now), pinnedForMs: breaker.pinnedForMs(now) };
}

export function viewOfScope({ dependency, breaker, concurrency, budget, inFlight }: Scope, now: number): ScopeView {
  const { baselineMs } = concurrency;
  return {
    ...(dependency === undefined ? {} : { dependency }),
    breaker: viewOfBreaker(breaker, now),
    limit: concurrency.limit(now),
    inFlight,
    ...(baselineMs === undefined ? {} : { baselineMs }),
    budget: budget.tokens(now),
  };
}
