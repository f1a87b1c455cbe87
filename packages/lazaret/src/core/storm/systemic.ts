import { draw } from '../draw.ts';
import type { SystemicNumbers } from './numbers.ts';
import { Recent } from './recent.ts';
import { type Strand, Strands } from './strands.ts';
import { Tally } from './tally.ts';

const BUCKETS = 5;

/** An unknown error was seen. */
export interface SystemicVerdict {
  /** It is systemic since then: not the message's doing. */
  readonly systemicAt: number | undefined;
  readonly change: 'systemic' | 'cleared' | undefined;
  /** Nearly everything fails with it: the queue should pause. */
  readonly flood: boolean;
  /** In words, for people. */
  readonly why: string;
}

/**
 * Tells a bad deploy from a bad message: an unknown error of one fingerprint in so many distinct messages is not theirs. The
 * window holds the last messages, not a time: on a busy queue an hour of successes would hide what goes wrong now, and a slow
 * one would see too little in ten seconds.
 */
export class Systemic {
  readonly #numbers: SystemicNumbers;
  readonly #messages: Tally = new Tally(BUCKETS);
  readonly #strands: Strands;
  readonly #recent: Recent;
  readonly #perBucket: number;
  readonly #longestBucketMs: number;
  #tick = 0;
  #inBucket = 0;
  #bucketAt: number;

  constructor(numbers: SystemicNumbers, now: number) {
    this.#numbers = numbers;
    this.#strands = new Strands(numbers.fingerprints, BUCKETS, numbers.clearMs);
    this.#recent = new Recent(numbers.remembered, BUCKETS);
    this.#perBucket = Math.ceil(numbers.messages / BUCKETS);
    this.#longestBucketMs = numbers.windowMs / BUCKETS;
    this.#bucketAt = now;
  }

  /** A message succeeds once, so that each is another one. */
  succeeded(now: number): void {
    this.#goOn(now);
    this.#seen();
  }

  /** A message failed in another way, which counts among all messages. */
  failed(message: string, now: number): void {
    this.#goOn(now);
    if (this.#recent.isNew(draw(message, 0), this.#tick)) this.#seen();
  }

  /** A message failed with an unknown error. */
  unknown(fingerprint: string, message: string, now: number): SystemicVerdict {
    this.failed(message, now);
    const strand = this.#strands.of(fingerprint, this.#tick);
    if (strand === undefined) return OTHERS;
    if (this.#recent.isNew(draw(message, 1 + strand.number), this.#tick)) strand.tally.add(1, this.#tick);
    const { least, pauseShare } = this.#numbers;
    const messages = this.#messages.sum(this.#tick);
    const failing = strand.tally.sum(this.#tick);
    return {
      change: this.#judge(strand, now),
      systemicAt: strand.trippedAt,
      flood: messages >= least && failing >= messages * pauseShare,
      why: `${failing} of the last ${messages} messages failed with ${fingerprint}`,
    };
  }

  /** Ends what has been clear for long enough, also where none comes any more. Answers the fingerprints. */
  settle(now: number): readonly string[] {
    this.#goOn(now);
    const tripped = this.#strands.tripped();
    if (tripped.length === 0) return NONE;
    return tripped
      .filter((strand) => !this.#isTooMuch(strand) && this.#strands.calm(strand, now))
      .map(({ fingerprint }) => fingerprint);
  }

  /** By hand. Answers whether it was systemic. */
  reset(fingerprint: string): boolean {
    const strand = this.#strands.get(fingerprint);
    strand?.tally.clear();
    return strand !== undefined && this.#strands.reset(strand);
  }

  /** Begins to count anew; what is systemic stays so. */
  forget(): void {
    this.#messages.clear();
    this.#strands.clear();
    this.#recent.clear();
  }

  tripped(): readonly Strand[] {
    return this.#strands.tripped();
  }

  #judge(strand: Strand, now: number): SystemicVerdict['change'] {
    if (this.#isTooMuch(strand)) return this.#strands.trip(strand, now) ? 'systemic' : undefined;
    return this.#strands.calm(strand, now) ? 'cleared' : undefined;
  }

  #isTooMuch({ tally, trippedAt }: Strand): boolean {
    const { least, leastToStay, share } = this.#numbers;
    const messages = this.#messages.sum(this.#tick);
    return messages >= (trippedAt === undefined ? least : leastToStay) && tally.sum(this.#tick) >= messages * share;
  }

  #seen(): void {
    this.#messages.add(1, this.#tick);
    this.#inBucket++;
  }

  /** A bucket ends when it is full or old, whichever comes first. */
  #goOn(now: number): void {
    const age = now - this.#bucketAt;
    if (age >= 0 && age < this.#longestBucketMs && this.#inBucket < this.#perBucket) return;
    this.#tick += age < 0 ? 0 : Math.max(1, Math.floor(age / this.#longestBucketMs));
    this.#bucketAt = now;
    this.#inBucket = 0;
  }
}

const OTHERS: SystemicVerdict = { systemicAt: undefined, change: undefined, flood: false, why: '' };
const NONE: readonly string[] = [];
