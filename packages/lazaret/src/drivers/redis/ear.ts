import type { System } from '../../ports/system.ts';
import type { RedisClient } from './client.ts';

/** What nobody adds to the stream, as a message that another process gave back, is looked for after this long. */
const LOOK_EVERY_MS = 1_000;

/** Hears of new entries of a stream, on a connection of its own: a read that blocks holds up everything behind it. */
export class Ear {
  readonly #client: RedisClient;
  readonly #system: System;
  readonly #stream: string;
  readonly #wakers = new Set<() => void>();
  #isReading = false;
  #touches = 0;

  constructor(client: RedisClient, system: System, stream: string) {
    this.#client = client;
    this.#system = system;
    this.#stream = stream;
  }

  /** Grows with each word of `touched`: hand it to the wait after the look. */
  get touches(): number {
    return this.#touches;
  }

  /** This process gave something back, so that it is due sooner than was thought. */
  touched(): void {
    this.#touches++;
    this.#wake();
  }

  /** Resolves when it is worth looking again: there is an entry newer than `newest`, `ms` passed, or the signal says to ask no more. */
  wait(newest: string, touches: number, ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || touches !== this.#touches) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake);
        signal.removeEventListener('abort', wake);
        cancel();
        resolve();
      };
      const cancel = this.#system.after(Math.min(ms, LOOK_EVERY_MS), wake);
      signal.addEventListener('abort', wake);
      this.#wakers.add(wake);
      this.#read(newest);
    });
  }

  end(): void {
    this.#wake();
    this.#client.disconnect();
  }

  #read(newest: string): void {
    if (this.#isReading || newest === '') return;
    this.#isReading = true;
    const heard = (answer: unknown) => {
      this.#isReading = false;
      if (answer !== null) this.#wake();
    };
    // n.b. who cannot hear looks now and then.
    this.#client
      .callBuffer('XREAD', 'COUNT', 1, 'BLOCK', LOOK_EVERY_MS, 'STREAMS', this.#stream, newest)
      .then(heard, () => heard(null));
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
