import type { Cancel, System } from '../../ports/system.ts';

/** How often the depth of the lane is asked for: AMQP tells nothing of a queue by itself. */
const IDLE_MS = 1_000;
const BUSY_MS = 250;

/** Tells how many suspects wait, on change. */
export class LaneWatch {
  readonly #system: System;
  readonly #depth: () => Promise<number | undefined>;
  readonly #tell: (waiting: number) => void;
  #timer: Cancel | undefined;
  #told = 0;
  #isLooking = false;
  #isAsked = false;
  #isStopped = false;

  /** `depth` answers `undefined` while it cannot be known. */
  constructor(system: System, depth: () => Promise<number | undefined>, tell: (waiting: number) => void) {
    this.#system = system;
    this.#depth = depth;
    this.#tell = tell;
  }

  /** Looks now, and from then on. */
  look(): void {
    if (this.#isStopped) return;
    this.#isAsked = this.#isLooking;
    if (!this.#isLooking) void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  async #look(): Promise<void> {
    this.#timer?.();
    this.#isLooking = true;
    const waiting = await this.#depth().catch(() => undefined);
    this.#isLooking = false;
    if (this.#isStopped) return;
    if (waiting !== undefined && waiting !== this.#told) {
      this.#told = waiting;
      this.#tell(waiting);
    }
    if (this.#isAsked) this.look();
    else this.#timer = this.#system.after(this.#told > 0 ? BUSY_MS : IDLE_MS, () => this.look());
  }
}
