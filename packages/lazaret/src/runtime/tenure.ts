import type { Journal } from '../ports/journal.ts';
import type { Store } from '../ports/store.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';

/** Shorter than most leases of messages: what a process that is gone had open is a strike by the time that it comes again. */
const LEASE_MS = 15_000;
const BEAT_MS = 5_000;

/** A process as the store knows it: it lives for as long as it says so. */
export class Tenure {
  readonly journal: Journal;
  readonly #store: Store;
  readonly #owner: string;
  readonly #system: System;
  readonly #trouble: (error: Error) => void;
  #beat: Cancel | undefined;
  #ended = false;

  constructor(store: Store, group: string | undefined, system: System, trouble: (error: Error) => void) {
    this.#store = store;
    this.#owner = system.id();
    this.journal = store.journal(this.#owner, group);
    this.#system = system;
    this.#trouble = trouble;
  }

  /** Resolves when the store knows of it. Rejects where the store is away. */
  async begin(): Promise<void> {
    await this.journal.alive(this.#owner, LEASE_MS);
    this.#plan();
  }

  #plan(): void {
    if (!this.#ended) this.#beat = this.#system.after(BEAT_MS, () => void this.#live());
  }

  /** n.b. planned before it is answered: a store that hangs once is asked again. */
  async #live(): Promise<void> {
    this.#plan();
    try {
      await this.journal.alive(this.#owner, LEASE_MS);
    } catch (thrown) {
      this.#trouble(asError(thrown));
    }
  }

  /** All it had open has ended by now. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#beat?.();
    try {
      await this.journal.alive(this.#owner, 0);
    } finally {
      await this.#store.close();
    }
  }
}
