import type { Rate } from '../duration.ts';

/**
 * At most a rate, with a burst. Tokens come back with time, in fractions; whole ones are taken.
 *
 * What was taken is counted since an anchor instead of being subtracted piece by piece, so that over any time exactly
 * `burst + rate × time` is granted: no rounding piles up, however often it is asked. Never below 0, never above the burst.
 * Where time jumps back, what is there stays, and refills from then on.
 */
export class TokenBucket {
  #rate: Rate;
  #burst: number;
  #anchorAt: number;
  #anchorTokens: number;
  /** Since the anchor. */
  #taken = 0;
  #now: number;

  /** Full at first. `burst` is at least 1. */
  constructor(rate: Rate, burst: number, now: number) {
    this.#rate = rate;
    this.#burst = Math.max(1, burst);
    this.#anchorAt = now;
    this.#anchorTokens = this.#burst;
    this.#now = now;
  }

  get burst(): number {
    return this.#burst;
  }

  /** What is there, fractions included. */
  tokens(now: number): number {
    if (now < this.#now) this.#anchor(this.#tokensAt(this.#now), now);
    this.#now = now;
    const tokens = this.#tokensAt(now);
    if (tokens >= this.#burst) {
      this.#anchor(this.#burst, now);
      return this.#burst;
    }
    return tokens;
  }

  /** How many of `want` may go, each of `weight` tokens. One that weighs more than the burst goes when the bucket is full. */
  take(want: number, now: number, weight = 1): number {
    const cost = Math.min(weight, this.#burst);
    const granted = Math.min(want, cost > 0 ? Math.floor(this.tokens(now) / cost) : want);
    if (!(granted > 0)) return 0;
    this.#taken += granted * cost;
    return granted;
  }

  /** So many were taken and not used. What is above the burst is lost. */
  handBack(unused: number, weight = 1): void {
    this.#taken -= unused * Math.min(weight, this.#burst);
  }

  /** From now on. What is there stays, up to the new burst. */
  change(rate: Rate, burst: number, now: number): void {
    const tokens = this.tokens(now);
    this.#rate = rate;
    this.#burst = Math.max(1, burst);
    this.#anchor(tokens, now);
  }

  /** Milliseconds until one of `weight` may go. */
  waitMs(now: number, weight = 1): number {
    const missing = Math.min(weight, this.#burst) - this.tokens(now);
    return missing <= 0 ? 0 : Math.ceil((missing * this.#rate.perMs) / this.#rate.count);
  }

  #tokensAt(now: number): number {
    const { count, perMs } = this.#rate;
    return this.#anchorTokens + ((now - this.#anchorAt) * count) / perMs - this.#taken;
  }

  #anchor(tokens: number, now: number): void {
    this.#anchorTokens = tokens;
    this.#anchorAt = now;
    this.#taken = 0;
    this.#now = now;
  }
}
