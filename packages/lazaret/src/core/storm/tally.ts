/**
 * How often something happened lately: a ring of buckets and their sum. A bucket is named by a whole number that grows with
 * time, its tick; what was counted is forgotten `buckets` ticks later. Constant memory, nothing allocated.
 */
export class Tally {
  readonly #counts: Int32Array;
  #at = 0;
  #tick = 0;
  #sum = 0;

  constructor(buckets: number) {
    this.#counts = new Int32Array(buckets);
  }

  add(count: number, tick: number): void {
    if (tick !== this.#tick) this.#turnTo(tick);
    this.#counts[this.#at]! += count;
    this.#sum += count;
  }

  sum(tick: number): number {
    if (tick !== this.#tick) this.#turnTo(tick);
    return this.#sum;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  /** Time that jumps back changes no count: from there on it goes forward again, and buckets are forgotten as before. */
  #turnTo(tick: number): void {
    const counts = this.#counts;
    const steps = Math.min(tick - this.#tick, counts.length);
    this.#tick = tick;
    for (let step = 0; step < steps; step++) {
      this.#at = this.#at + 1 === counts.length ? 0 : this.#at + 1;
      this.#sum -= counts[this.#at]!;
      counts[this.#at] = 0;
    }
  }
}
