import type { ConsumeOptions } from '../../core/options.ts';
import type { BreakerState } from '../../core/storm/breaker.ts';

/** What goes wrong with the dependency, between the calm and what comes after. */
export type Trouble =
  /** Every call fails after 20 ms. */
  | { readonly kind: 'outage' }
  /** No call is ever answered: each ends at the client's timeout. */
  | { readonly kind: 'hang' }
  /** Only this share of its servers works on. */
  | { readonly kind: 'brownout'; readonly left: number }
  /** This share of calls fails at random. */
  | { readonly kind: 'errors'; readonly share: number }
  /** The code is at fault: every message fails with one fingerprint, and no call is made. */
  | { readonly kind: 'bad-deploy' };

/** One run: a queue, a fleet that consumes it, and what the fleet calls. Shares lie between 0 and 1, times are milliseconds. */
export interface SimulationSetup {
  readonly seed: number;
  readonly trouble: Trouble;
  readonly calmMs: number;
  readonly troubleMs: number;
  readonly afterMs: number;
  /** Messages that arrive in a second, at random. */
  readonly perSecond: number;
  readonly instances: number;
  /** Of each instance. Its `concurrency` is the pool. */
  readonly policy: ConsumeOptions;
  /** The dependency: so many calls at a time, each of which takes `serviceMs` on average; half as long again while its queue is longer than a client waits. */
  readonly servers: number;
  readonly serviceMs: number;
  /** A call that takes longer is given up; its server works on all the same. */
  readonly clientTimeoutMs: number;
  /** How service times are spread: 'even' within half of the average, the default, or 'exponential'. */
  readonly service?: 'even' | 'exponential';
  /** Messages that are poison whatever the dependency does, all with one fingerprint. */
  readonly poisonShare: number;
  /** This share of messages needs a second dependency, which stays well. */
  readonly otherShare: number;
}

/** How things stood at the end of each step, all in one row of numbers. */
export interface SimulationSeries {
  readonly stepMs: number;
  /** Messages done, and calls made, in a second. */
  readonly goodput: readonly number[];
  readonly calls: readonly number[];
  /** Of the whole fleet. */
  readonly limit: readonly number[];
  readonly inFlight: readonly number[];
  /** Instances whose breaker, or whose queue, stands open at that time. */
  readonly open: readonly number[];
  readonly states: readonly BreakerState[];
  readonly backlog: readonly number[];
  /** Of the oldest message that is neither done nor quarantined. */
  readonly ageMs: readonly number[];
  /** So far: healthy messages, and poison. */
  readonly quarantined: readonly number[];
  readonly poisonQuarantined: readonly number[];
}

export interface SimulationRun {
  readonly setup: Omit<SimulationSetup, 'policy'>;
  readonly series: SimulationSeries;
  readonly sent: number;
  readonly done: number;
  /** Runs of a handler that came to an end. */
  readonly outcomes: number;
  readonly calls: number;
  readonly callsInTrouble: number;
  /** Healthy messages in the quarantine at the end, and poison. */
  readonly quarantined: number;
  readonly poisonSent: number;
  readonly poisonQuarantined: number;
  /** Messages done in a second of the trouble, and of the five minutes after it (or of what is left). */
  readonly goodputInTrouble: number;
  readonly goodputAfter: number;
  /** From the end of the trouble until the first 5 s in which at least 90 % of what the dependency can do is done, or of the load where less is waiting. */
  readonly recoveredAfterMs: number | undefined;
  /** From the end of the trouble until nothing waits any more. */
  readonly drainedAfterMs: number | undefined;
  /** The most calls of any 5 s after the trouble, in a second, as a share of what the dependency can do. */
  readonly peakLoadAfter: number;
  /** Events of storm control, in their order. */
  readonly events: readonly { readonly atMs: number; readonly what: string; readonly why: string }[];
  /** Same setup, same hash. */
  readonly hash: string;
}
