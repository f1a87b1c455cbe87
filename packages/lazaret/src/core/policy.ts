import type { Backoff, Jitter } from './backoff.ts';
import type { Rate } from './duration.ts';
import type { Mechanism, StormOverrides } from './storm/numbers.ts';

/** What `decide` needs to know of a consumer's options. All times in whole milliseconds. */
export interface Policy {
  /** Charged failures + 1 may not exceed it: 4 is one first run and three retries. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  readonly jitter: Jitter;
  /** Strikes from which a message runs only alone. */
  readonly aloneStrikes: number;
  /** Strikes that convict: 4, that is two crashes alone. */
  readonly crashStrikes: number;
}

/** The whole of a consumer's options, checked and in numbers. */
export interface ConsumerPolicy extends Policy {
  readonly leaseMs: number;
  /** Leases are lengthened every so often; `undefined` switches it off. */
  readonly heartbeatMs: number | undefined;
  /** Deadline of one run, and cap of the lease. */
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Handlers of all processes of the queue; no limit where it is absent. */
  readonly globalConcurrency: number | undefined;
  readonly ordering: 'none' | 'key';
  /** Larger bodies are quarantined as `oversize` before the handler sees them. */
  readonly maxBodyBytes: number;
  /** Messages that may wait in memory behind one key. */
  readonly laneCap: number;
  /** Successors of a dead key that are parked in the quarantine; beyond it they wait in the queue. */
  readonly parkCap: number;
  readonly version: string | undefined;
  /** Whether starts are kept in the app's store, where the broker does not remember them itself. */
  readonly journal: boolean;
  readonly storm: StormPolicy;
}

/** What a consumer's options change of storm control. */
export interface StormPolicy {
  /** Starts of this queue; unlimited where it is absent. */
  readonly rate: Rate | undefined;
  readonly off: readonly Mechanism[];
  readonly numbers: StormOverrides;
}
