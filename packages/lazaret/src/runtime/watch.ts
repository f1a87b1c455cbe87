import type { Extension, Subscription } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import type { Alarm } from './alarm.ts';
import { alarm } from './alarm.ts';
import { asError } from './as-error.ts';
import type { Keeper } from './context.ts';
import type { Run } from './run.ts';

/** What the watch finds; acting on it is the consumer's business. */
export interface WatchSeen {
  /** Its handler passed the deadline. */
  deadline(run: Run): void;
  /** Its lease ended, or the broker says so. */
  lost(run: Run, why: string): void;
  /** A held run's wait is over. */
  due(run: Run): void;
  trouble(error: Error): void;
}

/**
 * Everything in our hands that time can change: leases are lengthened at half their life, handlers stopped at their deadline,
 * held runs woken when due. One timer in all; a message that ends early costs two set operations.
 */
export class Watch implements Keeper {
  readonly #subscription: Subscription;
  readonly #system: System;
  readonly #leaseMs: number;
  readonly #heartbeatMs: number;
  readonly #seen: WatchSeen;
  readonly #alarm: Alarm;
  readonly #hands = new Set<Run>();

  constructor(
    subscription: Subscription,
    system: System,
    lease: { leaseMs: number; heartbeatMs: number | undefined },
    seen: WatchSeen,
  ) {
    this.#subscription = subscription;
    this.#system = system;
    this.#leaseMs = lease.leaseMs;
    this.#heartbeatMs = lease.heartbeatMs ?? Number.POSITIVE_INFINITY;
    this.#seen = seen;
    this.#alarm = alarm(system, (now) => this.#ring(now));
  }

  get hands(): ReadonlySet<Run> {
    return this.#hands;
  }

  take(run: Run): void {
    this.#hands.add(run);
    this.look(run);
  }

  /** Ends heartbeat and deadline, before anything is written about the run. */
  drop(run: Run): void {
    this.#hands.delete(run);
  }

  has(run: Run): boolean {
    return this.#hands.has(run);
  }

  /** A time of `run` was set: make sure the alarm rings for it. */
  look(run: Run): void {
    this.#alarm.by(nextOf(run));
  }

  stop(): void {
    this.#alarm.stop();
  }

  async prolong(run: Run, ms: number): Promise<boolean> {
    if (!this.#hands.has(run)) return false;
    const now = this.#system.monotonic();
    run.deadlineAt = Math.max(run.deadlineAt, now + ms);
    await this.#beat([run], now, Math.max(ms, this.#leaseMs));
    return this.#hands.has(run);
  }

  #ring(now: number): number {
    const weak: Run[] = [];
    for (const run of this.#hands) {
      if (run.leaseEndsAt <= now) this.#seen.lost(run, 'its lease ended while we held it');
      else if (run.state === 'running' && run.deadlineAt <= now) this.#seen.deadline(run);
      else if (run.state === 'held' && run.dueAt <= now) this.#seen.due(run);
      if (run.beatAt <= now && this.#hands.has(run)) weak.push(run);
    }
    if (weak.length > 0) void this.#beat(weak, now, this.#leaseMs);
    let next = Number.POSITIVE_INFINITY;
    for (const run of this.#hands) next = Math.min(next, nextOf(run));
    return next;
  }

  #beat(runs: readonly Run[], now: number, leaseMs: number): Promise<void> {
    const beat = this.#extend(runs, now, leaseMs).then(() => {
      for (const run of runs) if (run.extending === beat) run.extending = undefined;
    });
    for (const run of runs) run.extending = beat;
    return beat;
  }

  /** The new end counts from when we asked, so that a slow answer never makes us believe in a lease that is over. */
  async #extend(runs: readonly Run[], now: number, leaseMs: number): Promise<void> {
    const batch: Extension[] = [];
    for (const run of runs) {
      run.beatAt = now + this.#heartbeatMs;
      batch.push({ delivery: run.delivery, leaseMs });
    }
    try {
      const results = await this.#subscription.extend(batch);
      for (let i = 0; i < runs.length; i++) {
        const run = runs[i]!;
        const result = results[i];
        if (!this.#hands.has(run)) continue;
        if (result === 'done') {
          if (run.leaseEndsAt !== Number.POSITIVE_INFINITY) run.leaseEndsAt = Math.max(run.leaseEndsAt, now + leaseMs);
        } else if (result === 'lost') this.#seen.lost(run, 'the broker says it is not ours any more');
        else this.#retryBeat(run, result ?? new Error('the driver answered fewer extensions than it was given'));
      }
    } catch (thrown) {
      for (const run of runs) if (this.#hands.has(run)) this.#retryBeat(run, asError(thrown));
    }
    for (const run of runs) if (this.#hands.has(run)) this.look(run);
  }

  /** A failed heartbeat is tried again before the lease ends, and never escapes as an exception. */
  #retryBeat(run: Run, error: Error): void {
    const now = this.#system.monotonic();
    run.beatAt = now + Math.max(100, Math.min(this.#heartbeatMs, (run.leaseEndsAt - now) / 4));
    this.#seen.trouble(error);
  }
}

function nextOf(run: Run): number {
  const own = run.state === 'running' ? run.deadlineAt : run.state === 'held' ? run.dueAt : Number.POSITIVE_INFINITY;
  return Math.min(own, run.leaseEndsAt, run.beatAt);
}
