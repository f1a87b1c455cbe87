/** Places where one key may lie. */
const NEIGHBOURS = 4;

/**
 * Tells a message that was counted lately from one that was not, in constant memory: of more keys than there are places the
 * longest counted is forgotten, and would be counted once more.
 */
export class Recent {
  readonly #keys: Float64Array;
  readonly #ticks: Float64Array;
  readonly #life: number;

  /** A key is forgotten `life` ticks after it was new. */
  constructor(places: number, life: number) {
    this.#keys = new Float64Array(places);
    this.#ticks = new Float64Array(places).fill(Number.NEGATIVE_INFINITY);
    this.#life = life;
  }

  /** Whether `key`, uniform in [0, 1), has to be counted; it counts as counted from then on. */
  isNew(key: number, tick: number): boolean {
    const keys = this.#keys;
    const ticks = this.#ticks;
    const first = Math.floor(key * keys.length);
    let oldest = first;
    for (let step = 0; step < NEIGHBOURS; step++) {
      const place = (first + step) % keys.length;
      const age = tick - ticks[place]!;
      if (keys[place] === key && age >= 0 && age < this.#life) return false;
      if (ticks[place]! < ticks[oldest]!) oldest = place;
    }
    keys[oldest] = key;
    ticks[oldest] = tick;
    return true;
  }

  clear(): void {
    this.#ticks.fill(Number.NEGATIVE_INFINITY);
  }
}
