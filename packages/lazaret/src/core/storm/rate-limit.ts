import type { Rate } from '../duration.ts';
import type { RateNumbers } from './numbers.ts';
import { TokenBucket } from './token-bucket.ts';

const PAST = Number.NEGATIVE_INFINITY;

/** What a process that shares its rate has used, and could not have, since its last loan. */
export interface RateUse {
  readonly rate: Rate;
  readonly have: number;
  readonly spent: number;
  readonly short: number;
}

/** Floating point leaves a token a hair short of a whole one. */
const HAIR = 1e-9;

/**
 * How often a queue's messages may start: the configured rate, another one that a person set for a while, or any. Its tokens come
 * from a bucket of its own, or are lent by all processes of the queue together.
 */
export class RateLimit {
  readonly #numbers: RateNumbers;
  readonly #configured: Rate | undefined;
  #rate: Rate | undefined;
  #bucket: TokenBucket | undefined;
  #pinnedUntil = PAST;
  /** What was lent; `undefined` while the bucket is its own. */
  #purse: number | undefined;
  #loanAt = PAST;
  #spent = 0;
  #short = 0;

  /** Without a rate, or where it is switched off, everything may start. */
  constructor(numbers: RateNumbers, rate: Rate | undefined, now: number) {
    this.#numbers = numbers;
    this.#configured = numbers.burstMs === Number.POSITIVE_INFINITY ? undefined : rate;
    this.#use(this.#configured, now);
  }

  /** How many of `want` may start; their tokens are taken. */
  take(want: number, now: number): number {
    this.#settle(now);
    if (this.#bucket === undefined) return want;
    if (this.#purse === undefined) return this.#bucket.take(want, now);
    const granted = Math.max(0, Math.min(want, Math.floor(this.#purse + HAIR)));
    this.#purse -= granted;
    this.#spent += granted;
    this.#short = Math.max(this.#short, want - granted);
    return granted;
  }

  /** So many were taken and not used. */
  handBack(unused: number): void {
    if (this.#purse === undefined) this.#bucket?.handBack(unused);
    else {
      this.#purse += unused;
      this.#spent -= unused;
    }
  }

  /** Milliseconds until one may start. */
  waitMs(now: number): number {
    this.#settle(now);
    if (this.#bucket === undefined) return 0;
    if (this.#purse === undefined) return this.#bucket.waitMs(now);
    return this.#purse + HAIR >= 1 ? 0 : Math.max(1, Math.ceil(this.#loanAt - now));
  }

  /** `undefined` where everything may start. */
  tokens(now: number): number | undefined {
    this.#settle(now);
    return this.#bucket === undefined ? undefined : (this.#purse ?? this.#bucket.tokens(now));
  }

  // --- shared with other processes --------------------------------------------------------------------------------

  /** `undefined` where everything may start. */
  use(now: number): RateUse | undefined {
    this.#settle(now);
    if (this.#rate === undefined) return undefined;
    return { rate: this.#rate, have: this.#purse ?? 0, spent: this.#spent, short: this.#short };
  }

  /** A new slice, for which a loan is asked for. Of what was lent `back` goes back, and what is used is counted anew. */
  beginSlice(back: number, nextAt: number): void {
    if (this.#purse !== undefined) this.#purse -= back;
    this.#loanAt = nextAt;
    this.#spent = 0;
    this.#short = 0;
  }

  /** So many more, from all processes' tokens, which are asked again at `nextAt`; its own bucket gives none any more. */
  lend(tokens: number, nextAt: number): void {
    this.#purse = (this.#purse ?? 0) + tokens;
    this.#loanAt = nextAt;
  }

  /** Nobody can be asked: from now on `share` of the rate, out of its own bucket, which is empty. */
  keepTo(share: number, now: number): void {
    this.#settle(now);
    if (this.#rate === undefined) return;
    const { count, perMs } = this.#rate;
    this.#purse = undefined;
    this.#bucket = new TokenBucket({ count: count * share, perMs }, 1, now);
    this.#bucket.take(1, now);
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
    this.#rate = rate;
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
