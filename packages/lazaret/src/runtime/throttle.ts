import type { Cancel, System } from '../ports/system.ts';

/** What is left out is counted for so many things at a time; the others of a window are left out uncounted. */
const MOST_KEYS = 1_000;

interface Said {
  readonly again: (leftOut: number) => void;
  leftOut: number;
}

/** Says each thing at once, and then at most once per `windowMs`, with the count of what was left out meanwhile. One timer in all. */
export class Throttle {
  readonly #windowMs: number;
  readonly #system: System;
  #said = new Map<string, Said>();
  #cancel: Cancel | undefined;

  constructor(windowMs: number, system: System) {
    this.#windowMs = windowMs;
    this.#system = system;
  }

  /** `say` is called now with 0, or later with how often it was asked for meanwhile. */
  say(key: string, say: (leftOut: number) => void): void {
    const before = this.#said.get(key);
    if (before !== undefined) {
      before.leftOut++;
      return;
    }
    if (this.#said.size >= MOST_KEYS) return;
    this.#said.set(key, { again: say, leftOut: 0 });
    this.#cancel ??= this.#system.after(this.#windowMs, this.#endWindow);
    say(0);
  }

  /** Says what was left out so far, and waits for nothing more. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#sayAgain();
    this.#said.clear();
  }

  readonly #endWindow = (): void => {
    this.#said = this.#sayAgain();
    this.#cancel = this.#said.size > 0 ? this.#system.after(this.#windowMs, this.#endWindow) : undefined;
  };

  /** What was said now may not be said again in the next window. */
  #sayAgain(): Map<string, Said> {
    const repeated = new Map<string, Said>();
    for (const [key, { again, leftOut }] of this.#said) {
      if (leftOut === 0) continue;
      repeated.set(key, { again, leftOut: 0 });
      again(leftOut);
    }
    return repeated;
  }
}
