/**
 * The last `size` of something among all that happens: how dense they are. It sees at once what a window of time, full of what was
 * before, sees minutes later. Constant memory.
 */
export class Burst {
  readonly #ordinals: Float64Array;
  readonly #times: Float64Array;
  #next = 0;
  #known = 0;

  constructor(size: number) {
    this.#ordinals = new Float64Array(size);
    this.#times = new Float64Array(size);
  }

  /** `ordinal` counts all that happens, this one included. */
  add(ordinal: number, now: number): void {
    this.#ordinals[this.#next] = ordinal;
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % this.#ordinals.length;
    if (this.#known < this.#ordinals.length) this.#known++;
  }

  /** Among how many things the last `size` of them happened, up to `ordinal`; Infinity where there were fewer, or the first is older than `windowMs`. */
  among(ordinal: number, now: number, windowMs: number): number {
    const size = this.#ordinals.length;
    if (size === 0 || this.#known < size || now - this.#times[this.#next]! >= windowMs) return Number.POSITIVE_INFINITY;
    return ordinal - this.#ordinals[this.#next]! + 1;
  }

  clear(): void {
    this.#known = 0;
    this.#next = 0;
  }
}
