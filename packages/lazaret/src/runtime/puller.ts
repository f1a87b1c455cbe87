import type { Delivery, Subscription } from '../ports/broker.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';

export interface PullsSeen {
  /** Of the `asked` for; also none, when the queue stayed empty. */
  arrived(deliveries: readonly Delivery[], asked: number): void;
  /** So many will not come: the broker failed. */
  failed(asked: number): void;
  trouble(error: Error): void;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

/** Asks for messages, one request at a time. A failing broker is asked again, ever more slowly and never in step with other processes. */
export class Puller {
  readonly #subscription: Subscription;
  readonly #system: System;
  readonly #seen: PullsSeen;
  #controller = new AbortController();
  #failures = 0;
  #state: 'idle' | 'asking' | 'waiting' = 'idle';
  #lastAt: number | undefined;
  #askedAt = 0;
  #failingSince: number | undefined;
  #again: Cancel | undefined;

  constructor(subscription: Subscription, system: System, seen: PullsSeen) {
    this.#subscription = subscription;
    this.#system = system;
    this.#seen = seen;
  }

  get asking(): boolean {
    return this.#state === 'asking';
  }

  /** It may be asked for more. */
  get idle(): boolean {
    return this.#state === 'idle';
  }

  /** Epoch milliseconds of the last answer. */
  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  /** Monotonic milliseconds since which an answer is due; `undefined` when nothing is asked. */
  get askedAt(): number | undefined {
    return this.#state === 'asking' ? this.#askedAt : undefined;
  }

  /** Monotonic milliseconds of the first failure since the last answer. */
  get failingSince(): number | undefined {
    return this.#failingSince;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  pull(max: number): void {
    if (max <= 0 || this.#state !== 'idle') return;
    this.#state = 'asking';
    this.#askedAt = this.#system.monotonic();
    void this.#ask(max);
  }

  /** Asks no more; what an open request still brings arrives all the same. */
  hush(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
  }

  /** Asks never again. */
  end(): void {
    this.hush();
    this.#again?.();
  }

  async #ask(max: number): Promise<void> {
    let deliveries: readonly Delivery[];
    try {
      deliveries = await this.#subscription.pull(max, this.#controller.signal);
    } catch (thrown) {
      this.#failed(asError(thrown), max);
      return;
    }
    this.#state = 'idle';
    this.#failures = 0;
    this.#failingSince = undefined;
    this.#lastAt = this.#system.now();
    this.#seen.arrived(deliveries, max);
  }

  #failed(error: Error, asked: number): void {
    this.#state = 'waiting';
    this.#failingSince ??= this.#system.monotonic();
    const ceiling = Math.min(FIRST_WAIT_MS * 2 ** Math.min(this.#failures++, 20), LONGEST_WAIT_MS);
    this.#seen.failed(asked);
    this.#seen.trouble(error);
    this.#again = this.#system.after(ceiling * (0.5 + 0.5 * this.#system.random()), () => {
      this.#state = 'idle';
      this.#seen.arrived([], 0);
    });
  }
}
