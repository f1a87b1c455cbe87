import type { Chance } from './chance.ts';
import type { VirtualSystem } from './virtual-system.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface WireOptions {
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** The process at this end. */
  readonly system: VirtualSystem;
  readonly latencyMs: readonly [least: number, most: number];
}

/** Between one process and the server: each direction keeps its order, takes its time, and can be stalled. */
export class Wire {
  readonly #options: WireOptions;
  readonly #instant: boolean;
  /** When each call began that the server has not answered yet. */
  readonly #unanswered = new Set<{ readonly since: number }>();
  #requestedUntil = 0;
  #answeredUntil = 0;
  #stalledUntil = 0;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#instant = options.latencyMs[1] === 0;
  }

  /** What is on its way when the process dies gets lost with it. */
  request(run: () => void): void {
    const { time, system } = this.#options;
    const at = this.#arrival(this.#requestedUntil);
    if (at === undefined) {
      if (!system.hasEnded) run();
      return;
    }
    this.#requestedUntil = at;
    time.at(at, () => {
      if (!system.hasEnded) run();
    });
  }

  answer(run: () => void): void {
    const { time, system } = this.#options;
    const at = this.#arrival(this.#answeredUntil);
    if (at === undefined) {
      system.arrive(run);
      return;
    }
    this.#answeredUntil = at;
    time.at(at, () => system.arrive(run));
  }

  /** There and back. A dead process is never answered. */
  ask<T>(act: () => Promise<T>): Promise<T> {
    const call = { since: this.#options.time.now };
    return new Promise((resolve, reject) => {
      this.request(() => {
        this.#unanswered.add(call);
        act()
          .finally(() => this.#unanswered.delete(call))
          .then(
            (value) => this.answer(() => resolve(value)),
            (thrown) => this.answer(() => reject(thrown)),
          );
      });
    });
  }

  /** Milliseconds since the oldest call that the server has not answered; 0 where there is none. */
  get silentMs(): number {
    for (const { since } of this.#unanswered) return this.#options.time.now - since;
    return 0;
  }

  stall(ms: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, this.#options.time.now + ms);
  }

  get isStalled(): boolean {
    return this.#stalledUntil > this.#options.time.now;
  }

  /** When something that starts now arrives behind everything before it; `undefined`: at once. */
  #arrival(behind: number): number | undefined {
    const { time, chance, latencyMs } = this.#options;
    if (this.#instant && behind <= time.now && this.#stalledUntil <= time.now) return undefined;
    const [least, most] = latencyMs;
    return Math.max(time.now + chance.between(least, most), behind + ORDER, this.#stalledUntil);
  }
}

/** Apart by so much, nothing overtakes. */
const ORDER = 1 / 512;
