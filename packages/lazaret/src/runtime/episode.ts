import type { Outcome } from '../core/outcome.ts';

/** One run of a handler. When it is over, or given up, nothing that its handler still says changes anything. */
export class Episode {
  /** Its outcome is waited for. */
  listened = true;
  /** What the handler said by name. */
  said: Outcome | undefined;
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** Made when a handler first asks: most never do, and a controller costs more than the rest of the bookkeeping. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
