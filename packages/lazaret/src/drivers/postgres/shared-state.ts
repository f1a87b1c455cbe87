import type { SharedState, Versioned } from '../../ports/shared-state.ts';
import type { Database } from './database.ts';
import { loadText, storeText } from './text.ts';

const ABSENT: Versioned = { version: 0, value: null };

/** What processes share, in a table. */
export class TableSharedState implements SharedState {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async get(keys: readonly string[]): Promise<readonly Versioned[]> {
    if (keys.length === 0) return [];
    const { schema } = this.#database;
    const text = `
      SELECT key, version::float8 AS version, value FROM ${schema}.shared
      WHERE key = ANY ($1::text[]) AND expires_at > (SELECT ${schema}.clock_1())`;
    const stored = keys.map(storeText);
    const found = new Map<unknown, Versioned>();
    for (const { key, version, value } of await this.#database.read('shared', text, [stored])) {
      found.set(key, { version: version as number, value: loadText(value as string) });
    }
    return stored.map((key) => found.get(key) ?? ABSENT);
  }

  async compareAndSwap(key: string, version: number, value: string | null, ttlMs: number): Promise<boolean> {
    const { schema } = this.#database;
    const text = `SELECT ${schema}.swap_1($1, $2, $3, $4) AS swapped`;
    const stored = value === null ? null : storeText(value);
    const [row] = await this.#database.read('swap', text, [storeText(key), version, stored, Math.ceil(ttlMs)]);
    return row?.swapped === true;
  }
}
