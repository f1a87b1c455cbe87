import type { SharedState, Versioned } from '../../ports/shared-state.ts';
import type { Client } from './client.ts';
import type { World } from './shape.ts';

const ABSENT: Versioned = { version: 0, value: null };

interface Entry extends Versioned {
  readonly expiresAt: number;
}

/** What the server keeps for all of its clients. */
export class SharedEntries {
  readonly #clock: World['clock'];
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  constructor(clock: World['clock']) {
    this.#clock = clock;
  }

  get(key: string): Versioned {
    const entry = this.#entries.get(key);
    if (entry === undefined) return ABSENT;
    if (entry.expiresAt > this.#clock.now()) return { version: entry.version, value: entry.value };
    this.#entries.delete(key);
    return ABSENT;
  }

  compareAndSwap(key: string, version: number, value: string | null, ttlMs: number): boolean {
    if (this.get(key).version !== version) return false;
    if (value === null) this.#entries.delete(key);
    else this.#entries.set(key, { version: ++this.#version, value, expiresAt: this.#clock.now() + ttlMs });
    return true;
  }
}

/** One client's way to them. */
export function sharedState(entries: SharedEntries, client: Client): SharedState {
  return {
    async get(keys) {
      await client.connected();
      return client.hear(keys.map((key) => entries.get(key)));
    },
    async compareAndSwap(key, version, value, ttlMs) {
      await client.connected();
      return client.hear(entries.compareAndSwap(key, version, value, ttlMs));
    },
  };
}
