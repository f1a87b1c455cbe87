import type { System } from '../../ports/system.ts';

interface Waiting<T> {
  readonly take: () => readonly T[];
  readonly finish: (items: readonly T[]) => void;
}

/** Pulls of one subscription that wait for something to come, the oldest first. */
export class WaitingPulls<T> {
  readonly #system: System;
  readonly #waiting = new Set<Waiting<T>>();
  #whenIdle: (() => void)[] = [];

  constructor(system: System) {
    this.#system = system;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** What `take` gives now or when woken; `[]` after `waitMs`, or as soon as `signal` fires. Without a signal it waits to the end. */
  wait(take: () => readonly T[], waitMs: number, signal: AbortSignal | undefined): Promise<readonly T[]> {
    const ready = take();
    if (ready.length > 0 || waitMs <= 0 || signal?.aborted) return Promise.resolve(ready);
    return new Promise((resolve) => {
      const finish = (items: readonly T[]) => {
        this.#waiting.delete(waiting);
        cancel();
        signal?.removeEventListener('abort', end);
        resolve(items);
        if (this.#waiting.size === 0) for (const idle of this.#whenIdle.splice(0)) idle();
      };
      const end = () => finish([]);
      const waiting: Waiting<T> = { take, finish };
      const cancel = this.#system.after(waitMs, end);
      signal?.addEventListener('abort', end);
      this.#waiting.add(waiting);
    });
  }

  /** Something may have come. */
  wake(): void {
    for (const { take, finish } of this.#waiting) {
      const items = take();
      if (items.length === 0) return;
      finish(items);
    }
  }

  /** Answers all of them with nothing. */
  end(): void {
    for (const { finish } of this.#waiting) finish([]);
  }

  /** Resolves when none waits. */
  idle(): Promise<void> {
    return this.#waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
