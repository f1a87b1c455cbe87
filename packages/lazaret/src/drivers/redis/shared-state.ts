import type { SharedState, Versioned } from '../../ports/shared-state.ts';
import { type Link, textOf } from './link.ts';
import { SWAP } from './scripts.ts';

const ABSENT: Versioned = { version: 0, value: null };
const PREFIX = 'lazaret:shared:';

/** What processes share, a hash for each key. Values are JSON texts, so that any text survives. */
export class HashSharedState implements SharedState {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  get(keys: readonly string[]): Promise<readonly Versioned[]> {
    return this.#link.explained(() =>
      Promise.all(
        keys.map(async (key) => {
          const found = (await this.#link.ask('HMGET', keyOf(key), 'version', 'value')) as (Uint8Array | null)[];
          const [version, value] = found;
          if (version == null || value == null) return ABSENT;
          return { version: Number(textOf(version)), value: JSON.parse(textOf(value)) as string };
        }),
      ),
    );
  }

  async compareAndSwap(key: string, version: number, value: string | null, ttlMs: number): Promise<boolean> {
    const values = [String(version), JSON.stringify(value ?? ''), value === null ? '0' : '1', Math.ceil(ttlMs)];
    return (await this.#link.explained(() => this.#link.run(SWAP, [keyOf(key)], values))) === 1;
  }
}

function keyOf(key: string): string {
  return PREFIX + JSON.stringify(key);
}
