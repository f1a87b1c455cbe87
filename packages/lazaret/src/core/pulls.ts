/** Runs `run` once after `ms`, unless what it returns was called before. */
interface Clock {
  after(ms: number, run: () => void): () => void;
}

interface Waiting<T> {
  readonly max: number;
  answer(items: readonly T[]): void;
}

/** Pulls that wait for something to come. What comes in one piece is handed over in one piece. */
export class Pulls<T> {
  readonly #clock: Clock;
  readonly #take: (max: number) => readonly T[];
  readonly #waiting = new Set<Waiting<T>>();
  #isPlanned = false;

  constructor(clock: Clock, take: (max: number) => readonly T[]) {
    this.#clock = clock;
    this.#take = take;
  }

  /** `[]` after `waitMs`, at the signal, and when all of them are ended. */
  wait(max: number, waitMs: number, signal: AbortSignal): Promise<readonly T[]> {
    return new Promise((resolve) => {
      const waiting: Waiting<T> = {
        max,
        answer: (items) => {
          cancel();
          signal.removeEventListener('abort', stop);
          this.#waiting.delete(waiting);
          resolve(items);
        },
      };
      const stop = () => waiting.answer([]);
      const cancel = this.#clock.after(waitMs, stop);
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Once all that has arrived with it is in. */
  wake(): void {
    if (this.#isPlanned || this.#waiting.size === 0) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      for (const waiting of [...this.#waiting]) {
        const items = this.#take(waiting.max);
        if (items.length === 0) return;
        waiting.answer(items);
      }
    });
  }

  end(): void {
    for (const waiting of [...this.#waiting]) waiting.answer([]);
  }
}
