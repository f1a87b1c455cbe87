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
  /** Outcomes, ever. */
  #ordinal = 0;

  constructor(numbers: FuseNumbers) {
    this.#numbers = numbers;
    const remembered = Number.isFinite(numbers.least) ? numbers.least : 0;
    this.#strands = new Strands(numbers.fingerprints, BUCKETS, numbers.clearMs, remembered);
  }

  /** A run ended, however. */
  ended(now: number): void {
    this.#outcomes.add(1, this.#tick(now));
    this.#ordinal++;
  }

  /** Said after `ended`, of an outcome that means a letter. One that is held back is counted all the same: its share keeps the fuse. */
  letter(fingerprint: string, now: number): FuseVerdict {
    const tick = this.#tick(now);
    const strand = this.#strands.of(fingerprint, tick);
    if (strand === undefined) return OTHERS;
    const dense = this.#densest(strand, tick, now);
    const change = this.#judge(strand, tick, now);
    strand.tally.add(1, tick);
    strand.burst.add(this.#ordinal, now);
    const { least, pauseShare } = this.#numbers;
    return {
      fusedAt: strand.trippedAt,
      change,
      flood: dense.letters >= least && dense.letters >= dense.outcomes * pauseShare,
      why: `${dense.letters} of the last ${dense.outcomes} outcomes were letters of ${fingerprint}`,
    };
  }

  /** Ends what has been clear for long enough, also where none comes any more. Answers the fingerprints. */
  settle(now: number): readonly string[] {
    const tick = this.#tick(now);
    const tripped = this.#strands.tripped();
    if (tripped.length === 0) return NONE;
    return tripped
      .filter((strand) => !this.#isTooMuch(strand, tick, now) && this.#strands.calm(strand, now))
      .map(({ fingerprint }) => fingerprint);
  }

  /** By hand. Answers whether it was fused. */
  reset(fingerprint: string): boolean {
    const strand = this.#strands.get(fingerprint);
    strand?.tally.clear();
    strand?.burst.clear();
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
    if (this.#isTooMuch(strand, tick, now)) return this.#strands.trip(strand, now) ? 'fused' : undefined;
    return this.#strands.calm(strand, now) ? 'cleared' : undefined;
  }

  #isTooMuch(strand: Strand, tick: number, now: number): boolean {
    const { least, leastToStay, share } = this.#numbers;
    if (strand.tally.sum(tick) < (strand.trippedAt === undefined ? least : leastToStay)) return false;
    const { letters, outcomes } = this.#densest(strand, tick, now);
    return letters >= outcomes * share;
  }

  /**
   * All of the window, or the last of it where they lie closer: a flood in a busy queue would else take minutes to show. What is fused
   * comes again in bursts of its own.
   */
  #densest(
    { tally, burst, trippedAt }: Strand,
    tick: number,
    now: number,
  ): { readonly letters: number; readonly outcomes: number } {
    const { least, windowMs } = this.#numbers;
    const all = { letters: tally.sum(tick), outcomes: this.#outcomes.sum(tick) };
    if (trippedAt !== undefined) return all;
    const last = { letters: least, outcomes: burst.among(this.#ordinal, now, windowMs) };
    return last.letters * all.outcomes > all.letters * last.outcomes ? last : all;
  }

  #tick(now: number): number {
    return Math.floor((now * BUCKETS) / this.#numbers.windowMs);
  }
}

const OTHERS: FuseVerdict = { fusedAt: undefined, change: undefined, flood: false, why: '' };
const NONE: readonly string[] = [];
