import { Burst } from './burst.ts';
import { Tally } from './tally.ts';

/** What happens with one fingerprint. */
export interface Strand {
  readonly fingerprint: string;
  /** Given once: a fingerprint that was forgotten and comes back gets another. */
  readonly number: number;
  readonly tally: Tally;
  /** The last so many of it. */
  readonly burst: Burst;
  /** Since when its share is too large; `undefined` where it is not. */
  trippedAt: number | undefined;
  /** When its share was last too large. */
  aboveAt: number;
}

/**
 * Fingerprints by name, at most `places` of them. For a further one the rarest is forgotten, the longest unseen among equals, and never
 * one that has tripped: a share worth acting on is far above one in `places`, so that no flood of new fingerprints hides it.
 */
export class Strands {
  readonly #places: number;
  readonly #buckets: number;
  readonly #clearMs: number;
  readonly #remembered: number;
  /** The longest unseen first. */
  readonly #byName: Map<string, Strand> = new Map();
  #numbers = 0;
  #tripped = 0;

  /** `remembered`: the size of each burst; 0 where nobody asks for it. */
  constructor(places: number, buckets: number, clearMs: number, remembered = 0) {
    this.#places = places;
    this.#buckets = buckets;
    this.#clearMs = clearMs;
    this.#remembered = remembered;
  }

  /** `undefined` where every place is taken by one that has tripped: it counts among the others. */
  of(fingerprint: string, tick: number): Strand | undefined {
    const known = this.#byName.get(fingerprint);
    if (known === undefined && this.#byName.size >= this.#places && !this.#forgetRarest(tick)) return undefined;
    const strand = known ?? {
      fingerprint,
      number: this.#numbers++,
      tally: new Tally(this.#buckets),
      burst: new Burst(this.#remembered),
      trippedAt: undefined,
      aboveAt: 0,
    };
    this.#byName.delete(fingerprint);
    this.#byName.set(fingerprint, strand);
    return strand;
  }

  get(fingerprint: string): Strand | undefined {
    return this.#byName.get(fingerprint);
  }

  /** Those whose share is, or was lately, too large. */
  tripped(): readonly Strand[] {
    return this.#tripped === 0 ? NONE : [...this.#byName.values()].filter(({ trippedAt }) => trippedAt !== undefined);
  }

  /** Its share is too large now. Answers whether that is news. */
  trip(strand: Strand, now: number): boolean {
    strand.aboveAt = now;
    if (strand.trippedAt !== undefined) return false;
    strand.trippedAt = now;
    this.#tripped++;
    return true;
  }

  /** Its share is not too large now. Answers whether it has been so for long enough, which ends it. */
  calm(strand: Strand, now: number): boolean {
    if (strand.trippedAt === undefined) return false;
    if (now < strand.aboveAt) strand.aboveAt = now;
    return now - strand.aboveAt >= this.#clearMs && this.reset(strand);
  }

  /** Ends it at once. Answers whether there was something to end. */
  reset(strand: Strand): boolean {
    if (strand.trippedAt === undefined) return false;
    strand.trippedAt = undefined;
    this.#tripped--;
    return true;
  }

  /** What was counted is forgotten, what has tripped stays so. */
  clear(): void {
    for (const { tally, burst } of this.#byName.values()) {
      tally.clear();
      burst.clear();
    }
  }

  #forgetRarest(tick: number): boolean {
    let rarest: Strand | undefined;
    for (const strand of this.#byName.values()) {
      if (strand.trippedAt !== undefined) continue;
      if (rarest === undefined || strand.tally.sum(tick) < rarest.tally.sum(tick)) rarest = strand;
    }
    return rarest !== undefined && this.#byName.delete(rarest.fingerprint);
  }
}

const NONE: readonly Strand[] = [];
