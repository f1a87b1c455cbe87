/** Chance that a seed decides: the same seed, the same draws. */
export class Chance {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = scrambled(seed);
    this.#state = this.#seed;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    return scrambled(this.#state) / 0x1_0000_0000;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  hit(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  /** Another source, that neither this one's draws nor those of other names change. */
  fork(name: number): Chance {
    return new Chance(this.#seed ^ Math.imul(name + 1, 0x9e3779b1));
  }
}

function scrambled(seed: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
