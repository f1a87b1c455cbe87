import type { Extension, SettleResult, Subscription } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import type { Alarm } from './alarm.ts';
import { alarm } from './alarm.ts';
import { asError } from './as-error.ts';
import type { Keeper } from './context.ts';
import { marginOf } from './margin.ts';
import type { Run } from './run.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** What the watch finds; acting on it is the consumer's business. */
export interface WatchSeen {
  /** Its handler passed the deadline. */
  deadline(run: Run): void;
  /** Its lease ends soon, and could not be lengthened. */
  failing(run: Run): void;
  /** Its lease ended, or the broker says so. */
  lost(run: Run, why: string): void;
  /** A held run's wait is over. */
  due(run: Run): void;
  trouble(error: Error): void;
}

/**
 * Everything in our hands that time can change: leases are lengthened at half their life, handlers stopped at their deadline,
 * held runs woken when due. One timer in all; a message that ends early costs two list operations.
 */
export class Watch implements Pick<Keeper, 'prolong'> {
  readonly #subscription: Subscription;
  readonly #system: System;
  readonly #leaseMs: number;
  readonly #heartbeatMs: number;
  readonly #seen: WatchSeen;
  readonly #alarm: Alarm;
  /** n.b. no Set: its tables outlive the messages that pass through it, and cost more than all else that is done per message. */
  readonly #hands: Run[] = [];
  readonly #marginMs: number;

  constructor(
    subscription: Subscription,
    system: System,
    lease: { leaseMs: number; heartbeatMs: number | undefined },
    seen: WatchSeen,
  ) {
    this.#subscription = subscription;
    this.#system = system;
    this.#leaseMs = lease.leaseMs;
    this.#marginMs = marginOf(lease.leaseMs);
    this.#heartbeatMs = lease.heartbeatMs ?? NEVER;
    this.#seen = seen;
    this.#alarm = alarm(system, (now) => this.#ring(now));
  }

  get hands(): readonly Run[] {
    return this.#hands;
  }

  take(run: Run): void {
    run.at = this.#hands.push(run) - 1;
    this.look(run);
  }

  /** Ends heartbeat and deadline, before anything is written about the run. */
  drop(run: Run): void {
    if (run.at < 0) return;
    const last = this.#hands.pop()!;
    if (last !== run) {
      this.#hands[run.at] = last;
      last.at = run.at;
    }
    run.at = -1;
  }

  /** A time of `run` was set: make sure the alarm rings for it. */
  look(run: Run): void {
    this.#alarm.by(this.#nextOf(run));
  }

  stop(): void {
    this.#alarm.stop();
  }

  async prolong(run: Run, ms: number): Promise<boolean> {
    const now = this.#system.monotonic();
    if (run.at < 0 || (run.leaseEndsAt === NEVER && now + ms > run.capAt)) return false;
    if (!(await this.#beat([run], now, ms)) || run.at < 0) return false;
    run.deadlineAt = Math.min(Math.max(run.deadlineAt, now + ms), run.capAt);
    this.look(run);
    return true;
  }

  #ring(now: number): number {
    const weak: Run[] = [];
    for (const run of [...this.#hands]) {
      if (run.leaseEndsAt <= now) this.#seen.lost(run, 'its lease ended while we held it');
      else if (run.state === 'running' && run.deadlineAt <= now) this.#seen.deadline(run);
      else if (run.leaseEndsAt - this.#marginMs <= now) this.#seen.failing(run);
      else if (run.state === 'held' && run.dueAt <= now) this.#seen.due(run);
      if (run.beatAt <= now && run.at >= 0) weak.push(run);
    }
    if (weak.length > 0) void this.#beat(weak, now, 0);
    let next = NEVER;
    for (const run of this.#hands) next = Math.min(next, this.#nextOf(run));
    return next;
  }

  #nextOf(run: Run): number {
    const own = run.state === 'running' ? run.deadlineAt : run.state === 'held' ? run.dueAt : NEVER;
    return Math.min(own, run.leaseEndsAt - this.#marginMs, run.beatAt);
  }

  /** Resolves when this heartbeat and those before it are answered. `true`: every lease lasts at least `leastMs` from `now`. */
  #beat(runs: readonly Run[], now: number, leastMs: number): Promise<boolean> {
    const beat = this.#extend(runs, now, leastMs);
    for (const run of runs) {
      const all = run.extending === undefined ? beat : Promise.all([run.extending, beat]);
      run.extending = all;
      void all.then(() => {
        if (run.extending === all) run.extending = undefined;
      });
    }
    return beat;
  }

  /** The new end counts from when we asked, so that a slow answer never makes us believe in a lease that is over. Never rejects. */
  async #extend(runs: readonly Run[], now: number, leastMs: number): Promise<boolean> {
    const asked: Extension[] = [];
    for (const run of runs) {
      run.beatAt = now + this.#heartbeatMs;
      // n.b. a lease that was asked to be long is not shortened by the next heartbeat.
      const leftMs = run.leaseEndsAt === NEVER ? 0 : run.leaseEndsAt - now;
      asked.push({ delivery: run.delivery, leaseMs: Math.max(this.#leaseMs, leastMs, leftMs) });
    }
    let results: readonly SettleResult[] = [];
    let failure: Error | undefined;
    try {
      results = await this.#subscription.extend(asked);
    } catch (thrown) {
      failure = asError(thrown);
    }
    let allDone = true;
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!;
      const result = results[i];
      if (result === 'done') this.#lengthened(run, now + asked[i]!.leaseMs);
      else allDone = false;
      if (result === 'lost' && run.at >= 0) this.#seen.lost(run, 'the broker says it is not ours any more');
      else if (result !== 'done' && result !== 'lost') {
        failure ??= result ?? new Error('the driver answered fewer extensions than it was given');
        this.#beatAgain(run);
      }
      if (run.at >= 0) this.look(run);
    }
    if (failure !== undefined) this.#seen.trouble(failure);
    return allDone;
  }

  #lengthened(run: Run, endsAt: number): void {
    if (run.leaseEndsAt === NEVER) return;
    run.leaseEndsAt = endsAt;
    if (this.#heartbeatMs === NEVER) run.capAt = endsAt - this.#marginMs;
  }

  /** A failed heartbeat is tried again before the lease ends. */
  #beatAgain(run: Run): void {
    const now = this.#system.monotonic();
    run.beatAt = now + Math.max(100, Math.min(this.#heartbeatMs, (run.leaseEndsAt - now) / 4));
  }
}
