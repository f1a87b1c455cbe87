import type { Rate } from '../duration.ts';
import type { RateNumbers } from './numbers.ts';
import { TokenBucket } from './token-bucket.ts';

const PAST = Number.NEGATIVE_INFINITY;

/** How often a queue's messages may start: the configured rate, another one that a person set for a while, or any. */
export class RateLimit {
  readonly #numbers: RateNumbers;
  readonly #configured: Rate | undefined;
  #bucket: TokenBucket | undefined;
  #pinnedUntil = PAST;

  /** Without a rate, or where it is switched off, everything may start. */
  constructor(numbers: RateNumbers, rate: Rate | undefined, now: number) {
    this.#numbers = numbers;
    this.#configured = numbers.burstMs === Number.POSITIVE_INFINITY ? undefined : rate;
    this.#use(this.#configured, now);
  }

  /** How many of `want` may start; their tokens are taken. */
  take(want: number, now: number): number {
    this.#settle(now);
    return this.#bucket === undefined ? want : this.#bucket.take(want, now);
  }

  /** So many were taken and not used. */
  handBack(unused: number): void {
    this.#bucket?.handBack(unused);
  }

  /** Milliseconds until one may start. */
  waitMs(now: number): number {
    this.#settle(now);
    return this.#bucket === undefined ? 0 : this.#bucket.waitMs(now);
  }

  /** `undefined` where everything may start. */
  tokens(now: number): number | undefined {
    this.#settle(now);
    return this.#bucket?.tokens(now);
  }

  /** By hand, for so long. */
  pin(rate: Rate, forMs: number, now: number): void {
    this.#use(rate, now);
    this.#pinnedUntil = now + forMs;
  }

  #settle(now: number): void {
    if (this.#pinnedUntil === PAST || now < this.#pinnedUntil) return;
    this.#use(this.#configured, this.#pinnedUntil);
    this.#pinnedUntil = PAST;
  }

  #use(rate: Rate | undefined, now: number): void {
    if (rate === undefined) this.#bucket = undefined;
    else if (this.#bucket === undefined) this.#bucket = new TokenBucket(rate, this.#burstOf(rate), now);
    else this.#bucket.change(rate, this.#burstOf(rate), now);
  }

  /** Pinned where the rate is switched off, it bursts by a second's worth. */
  #burstOf({ count, perMs }: Rate): number {
    const burstMs = Math.min(this.#numbers.burstMs, 1000);
    return Math.ceil((count * burstMs) / perMs);
  }
}
