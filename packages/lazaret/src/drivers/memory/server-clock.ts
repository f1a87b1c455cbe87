import type { Cancel, System } from '../../ports/system.ts';

/** The server's own time: epoch milliseconds that no client's wall clock can move. Not whole, so that nothing due is early. */
export interface ServerClock {
  now(): number;
  after(ms: number, run: () => void): Cancel;
}

export function serverClock(system: System): ServerClock {
  const offset = system.now() - system.monotonic();
  return {
    now: () => system.monotonic() + offset,
    after: (ms, run) => system.after(ms, run),
  };
}

/** One timer for whatever comes next. */
export class Alarm {
  readonly #clock: ServerClock;
  readonly #ring: () => void;
  #setFor: number | undefined;
  #cancel: Cancel | undefined;

  constructor(clock: ServerClock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings once at `at` (server time) instead of whenever it was set for; `undefined` or infinity: not at all. */
  set(at: number | undefined): void {
    if (at === this.#setFor) return;
    this.off();
    if (at === undefined || at === Number.POSITIVE_INFINITY) return;
    this.#setFor = at;
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#setFor = undefined;
      this.#ring();
    });
  }

  /** Rings at `at` or earlier. */
  by(at: number): void {
    if (this.#setFor === undefined || at < this.#setFor) this.set(at);
  }

  off(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#setFor = undefined;
  }
}
