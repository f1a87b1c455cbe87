import type { ServerClock } from './server-clock.ts';

/** Which dedupe ids were seen within the window. */
export class Dedupe {
  readonly #clock: ServerClock;
  readonly #windowMs: number;
  /** In the order in which they run out. */
  readonly #endsAt = new Map<string, number>();

  constructor(clock: ServerClock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  isRepeat(queue: string, dedupeId: string): boolean {
    const now = this.#clock.now();
    for (const [seen, endsAt] of this.#endsAt) {
      if (endsAt > now) break;
      this.#endsAt.delete(seen);
    }
    const name = JSON.stringify([queue, dedupeId]);
    if (this.#endsAt.has(name)) return true;
    this.#endsAt.set(name, now + this.#windowMs);
    return false;
  }
}
