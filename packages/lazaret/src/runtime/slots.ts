import type { Run, RunState } from './run.ts';

/** Who takes a slot, who only credit, and whose handler goes on although it was given up. */
export class Slots {
  readonly #concurrency: number;
  #running = 0;
  #held = 0;
  #abandoned = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  get running(): number {
    return this.#running;
  }

  get held(): number {
    return this.#held;
  }

  get abandoned(): number {
    return this.#abandoned;
  }

  get free(): number {
    return this.#concurrency - this.#running;
  }

  /** Held messages take at most half of the credit, which is twice the concurrency. */
  get holdRoom(): boolean {
    return this.#held < this.#concurrency;
  }

  /** As many handlers as may run are beyond our control: another one would be one too many. */
  get isStuck(): boolean {
    return this.#abandoned >= this.#concurrency;
  }

  become(run: Run, state: RunState): void {
    if (run.state === 'running') this.#running--;
    else if (run.state === 'held') this.#held--;
    if (state === 'running') this.#running++;
    else if (state === 'held') this.#held++;
    run.state = state;
  }

  /** A handler is not listened to any more, and goes on. Answers how many such handlers there are. */
  abandon(): number {
    return ++this.#abandoned;
  }

  /** An abandoned handler has ended after all. */
  returned(): void {
    this.#abandoned--;
  }
}
