import { ALONE, type Fleet } from './fleet.ts';
import { Latencies } from './latencies.ts';
import type { ConcurrencyNumbers } from './numbers.ts';

const LEAST_SAMPLES = 5;

/**
 * How many handlers of a scope may run at once: grows by one per half a limit of answers, is cut by a failure of the dependency,
 * a timeout or a median latency that means queueing. From 1 to the consumer's concurrency. Of several processes each grows so much
 * more slowly that all together grow as one would: twenty of them that each add a slot have added twenty, and a dependency that serves
 * each only now and then lets nobody see that it was too many.
 *
 * What is too slow is told from a baseline, the median when nothing of ours queues. It only falls, save in one place: at a limit of
 * 1 a slow median is the dependency's own pace, and becomes the baseline. So a brown-out never raises it by the queue that
 * we ourselves make, and a dependency that got slower for good is not held at 1 for ever.
 */
export class AdaptiveConcurrency {
  readonly #numbers: ConcurrencyNumbers;
  readonly #most: number;
  readonly #fineMs: number;
  readonly #fleet: Readonly<Fleet>;
  readonly #latencies: Latencies = new Latencies();
  #limit: number;
  /** With what a cut leaves of a slot: of 4 it leaves 2.8, and two processes with 2.8 are not two with 2. */
  #exact: number;
  #baselineMs = Number.POSITIVE_INFINITY;
  /** The last median meant queueing: nothing grows until one does not. */
  #queueing = false;
  /** Answers since the limit last grew, and how many it takes for each slot. */
  #answers = 0;
  #pace: number;
  #windowAt: number;
  #cutAt = Number.NEGATIVE_INFINITY;
  #pinned = 0;
  #pinnedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    numbers: ConcurrencyNumbers,
    concurrency: number,
    timeoutMs: number,
    now: number,
    fleet: Readonly<Fleet> = ALONE,
  ) {
    this.#numbers = numbers;
    this.#pace = numbers.pace;
    this.#most = Math.max(1, concurrency);
    this.#fineMs = Math.min(numbers.fineMs, timeoutMs * numbers.fineShare);
    this.#limit = Math.min(Math.max(1, numbers.start), this.#most);
    this.#exact = this.#limit;
    this.#windowAt = now;
    this.#fleet = fleet;
  }

  limit(now: number): number {
    return now < this.#pinnedUntil ? this.#pinned : this.#limit;
  }

  /** Milliseconds; `undefined` before the first median. */
  get baselineMs(): number | undefined {
    return this.#baselineMs === Number.POSITIVE_INFINITY ? undefined : this.#baselineMs;
  }

  /** A handler returned. `inFlight` counts it. */
  succeeded(latencyMs: number, inFlight: number, now: number): void {
    // What started before a cut queued behind a limit that is gone.
    if (now - latencyMs >= this.#cutAt) this.#latencies.add(latencyMs);
    if (now - this.#windowAt >= this.#numbers.windowMs) this.#endWindow(now);
    else if (now < this.#windowAt) this.#windowAt = now;
    this.answered(inFlight);
  }

  /** A handler ended in a way that says nothing against the dependency. Only a limit that is made use of grows. */
  answered(inFlight: number): void {
    if (this.#queueing || inFlight < this.#limit / 2) return;
    if (++this.#answers < this.#limit * this.#pace * this.#fleet.processes) return;
    this.#answers = 0;
    this.#become(this.#exact + 1);
  }

  /** A dependency failed or throttled us, or a handler passed its deadline. */
  suffered(now: number): void {
    if (now < this.#cutAt) this.#cutAt = now;
    else if (this.#limit > 1 && now - this.#cutAt >= this.#numbers.windowMs) this.#cut(now);
  }

  /** By hand, for so long; what is learnt meanwhile counts afterwards. */
  pin(limit: number, forMs: number, now: number): void {
    this.#pinned = Math.min(Math.max(1, Math.floor(limit)), this.#most);
    this.#pinnedUntil = now + forMs;
  }

  #endWindow(now: number): void {
    if (this.#latencies.count < Math.max(LEAST_SAMPLES, Math.min(this.#numbers.leastSamples, this.#limit))) return;
    const medianMs = this.#latencies.median();
    if (medianMs < this.#baselineMs) this.#lowerBaseline(medianMs);
    else if (this.limit(now) === 1 && this.#meansQueueing(medianMs)) this.#baselineMs = medianMs;
    this.#queueing = this.#meansQueueing(medianMs);
    const { pace, queueingPace } = this.#numbers;
    this.#pace = this.#isPastBound(medianMs) ? queueingPace : pace;
    if (this.#queueing) this.suffered(now);
    this.#latencies.clear();
    this.#windowAt = now;
  }

  #meansQueueing(medianMs: number): boolean {
    return medianMs > this.#fineMs && this.#isPastBound(medianMs);
  }

  #isPastBound(medianMs: number): boolean {
    return medianMs > this.#baselineMs * this.#numbers.bound;
  }

  #lowerBaseline(medianMs: number): void {
    const known = this.#baselineMs !== Number.POSITIVE_INFINITY;
    this.#baselineMs = known
      ? this.#baselineMs + (medianMs - this.#baselineMs) * this.#numbers.baselineShare
      : medianMs;
  }

  #cut(now: number): void {
    this.#become(this.#exact * this.#numbers.cut);
    this.#cutAt = now;
    this.#answers = 0;
    this.#latencies.clear();
    this.#windowAt = now;
  }

  #become(exact: number): void {
    this.#exact = Math.min(this.#most, Math.max(1, exact));
    this.#limit = Math.floor(this.#exact);
  }
}
