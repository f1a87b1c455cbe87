import type { SharedState, Versioned } from '../../ports/shared-state.ts';
import type { System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';
import { loadText, storeText } from '../../sqlite/text.ts';
import { promised, type Writer } from '../../sqlite/writer.ts';

const ABSENT: Versioned = { version: 0, value: null };
const TABLE = `
  CREATE TABLE IF NOT EXISTS lazaret_shared (
    key BLOB PRIMARY KEY,
    version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    value BLOB NOT NULL
  ) WITHOUT ROWID`;
/** One row, whose key is a number and so nobody's, counts the writes: a key that was deleted and comes again has no version that somebody remembers. */
const NEXT_VERSION = `
  INSERT INTO lazaret_shared (key, version, expires_at, value) VALUES (0, 1, ${Number.MAX_SAFE_INTEGER}, '')
  ON CONFLICT (key) DO UPDATE SET version = version + 1
  RETURNING version`;
const IS_THERE = "SELECT 1 FROM sqlite_master WHERE name = 'lazaret_shared'";

interface Statements {
  readonly find: Statement;
  readonly nextVersion: Statement;
  readonly put: Statement;
  readonly drop: Statement;
  readonly dropExpired: Statement;
}

/**
 * What processes share, in a table of the broker's file. It is made by the first write: a process of an older version never meets it.
 * Losing it in a power cut loses orders that people can give again, so that no write of it waits for the disk.
 */
export class FileSharedState implements SharedState {
  readonly #db: Database;
  readonly #system: System;
  readonly #writer: Writer;
  readonly #read: <T>(read: () => T) => T;
  #statements: Statements | undefined;

  constructor(db: Database, system: System, writer: Writer, read: <T>(read: () => T) => T) {
    this.#db = db;
    this.#system = system;
    this.#writer = writer;
    this.#read = read;
  }

  async get(keys: readonly string[]): Promise<readonly Versioned[]> {
    return this.#read(() => {
      const statements = this.#prepared();
      return keys.map((key) => (statements === undefined ? ABSENT : this.#find(statements, key)));
    });
  }

  async compareAndSwap(key: string, version: number, value: string | null, ttlMs: number): Promise<boolean> {
    let failure: Error | undefined;
    let swapped = false;
    await promised<void>((answer) =>
      this.#writer.submit({
        kind: 'write',
        durable: false,
        size: 1,
        apply: () => {
          swapped = this.#swap(key, version, value, ttlMs);
        },
        fail: (_from, _to, error) => {
          failure = error;
        },
        finish: () => answer(),
      }),
    );
    if (failure !== undefined) throw failure;
    return swapped;
  }

  /** Inside the writer's transaction. */
  #swap(key: string, version: number, value: string | null, ttlMs: number): boolean {
    if (this.#prepared() === undefined) this.#db.exec(TABLE);
    const statements = this.#prepared()!;
    if (this.#find(statements, key).version !== version) return false;
    const now = this.#system.now();
    statements.dropExpired.run(now);
    if (value === null) statements.drop.run(storeText(key));
    else {
      const next = statements.nextVersion.get()![0] as number;
      statements.put.run(storeText(key), next, Math.ceil(now + ttlMs), storeText(value));
    }
    return true;
  }

  #find({ find }: Statements, key: string): Versioned {
    const row = find.get(storeText(key), this.#system.now());
    return row === undefined ? ABSENT : { version: row[0] as number, value: loadText(row[1] as string | Uint8Array) };
  }

  /** `undefined` while there is no table. */
  #prepared(): Statements | undefined {
    if (this.#statements !== undefined) return this.#statements;
    const db = this.#db;
    if (db.prepare(IS_THERE).get() === undefined) return undefined;
    this.#statements = {
      find: db.prepare('SELECT version, value FROM lazaret_shared WHERE key = ? AND expires_at > ?'),
      nextVersion: db.prepare(NEXT_VERSION),
      put: db.prepare('INSERT OR REPLACE INTO lazaret_shared (key, version, expires_at, value) VALUES (?, ?, ?, ?)'),
      drop: db.prepare('DELETE FROM lazaret_shared WHERE key = ?'),
      dropExpired: db.prepare('DELETE FROM lazaret_shared WHERE expires_at <= ?'),
    };
    return this.#statements;
  }
}
