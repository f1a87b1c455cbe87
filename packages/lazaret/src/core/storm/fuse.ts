import type { FuseNumbers } from './numbers.ts';
import { type Strand, Strands } from './strands.ts';
import { Tally } from './tally.ts';

const BUCKETS = 30;

/** A letter asked to go into the quarantine. */
export interface FuseVerdict {
  /** Fused since then: it may not. `undefined`: it may, and was counted. */
  readonly fusedAt: number | undefined;
  readonly change: 'fused' | 'cleared' | undefined;
  /** Its share is so large that the queue should pause. */
  readonly flood: boolean;
  /** In words, for people. */
  readonly why: string;
}

/**
 * The last wall before a full quarantine. It looks at one fingerprint at a time: a rule on the letters of all causes would stop
 * the very queue whose healthy messages must go on.
 */
export class Fuse {
  readonly #numbers: FuseNumbers;
  readonly #outcomes: Tally = new Tally(BUCKETS);
  readonly #strands: Strands;

  constructor(numbers: FuseNumbers) {
    this.#numbers = numbers;
    this.#strands = new Strands(numbers.fingerprints, BUCKETS, numbers.clearMs);
  }

  /** A run ended, however. */
  ended(now: number): void {
    this.#outcomes.add(1, this.#tick(now));
  }

  /** Said after `ended`, of an outcome that means a letter. One that is held back is counted all the same: its share keeps the fuse. */
  letter(fingerprint: string, now: number): FuseVerdict {
    const tick = this.#tick(now);
    const strand = this.#strands.of(fingerprint, tick);
    if (strand === undefined) return OTHERS;
    const letters = strand.tally.sum(tick);
    const outcomes = this.#outcomes.sum(tick);
    const change = this.#judge(strand, tick, now);
    strand.tally.add(1, tick);
    const { least, pauseShare, windowMs } = this.#numbers;
    return {
      fusedAt: strand.trippedAt,
      change,
      flood: letters >= least && letters >= outcomes * pauseShare,
      why: `${letters} of ${outcomes} outcomes in ${windowMs / 60_000} min were letters of ${fingerprint}`,
    };
  }

  /** Ends what has been clear for long enough, also where none comes any more. Answers the fingerprints. */
  settle(now: number): readonly string[] {
    const tick = this.#tick(now);
    const tripped = this.#strands.tripped();
    if (tripped.length === 0) return NONE;
    return tripped
      .filter((strand) => !this.#isTooMuch(strand, tick) && this.#strands.calm(strand, now))
      .map(({ fingerprint }) => fingerprint);
  }

  /** By hand. Answers whether it was fused. */
  reset(fingerprint: string): boolean {
    const strand = this.#strands.get(fingerprint);
    strand?.tally.clear();
    return strand !== undefined && this.#strands.reset(strand);
  }

  /** Begins to count anew; what is fused stays so. */
  forget(): void {
    this.#outcomes.clear();
    this.#strands.clear();
  }

  tripped(): readonly Strand[] {
    return this.#strands.tripped();
  }

  #judge(strand: Strand, tick: number, now: number): FuseVerdict['change'] {
    if (this.#isTooMuch(strand, tick)) return this.#strands.trip(strand, now) ? 'fused' : undefined;
    return this.#strands.calm(strand, now) ? 'cleared' : undefined;
  }

  #isTooMuch({ tally, trippedAt }: Strand, tick: number): boolean {
    const { least, leastToStay, share } = this.#numbers;
    const letters = tally.sum(tick);
    return letters >= (trippedAt === undefined ? least : leastToStay) && letters >= this.#outcomes.sum(tick) * share;
  }

  #tick(now: number): number {
    return Math.floor((now * BUCKETS) / this.#numbers.windowMs);
  }
}

const OTHERS: FuseVerdict = { fusedAt: undefined, change: undefined, flood: false, why: '' };
const NONE: readonly string[] = [];
