import { LazaretError } from '../../core/errors.ts';
import { pause } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { PgConnection, PgPool, PgQuery, PgRow } from './client.ts';
import { explained, isConflict, Unsent, wasAnswered } from './errors.ts';

/** Conflicts with other transactions are over in milliseconds. */
const TRIES = 5;
const LONGEST_PAUSE_MS = 20;

/** The database as the driver uses it: named statements, each of them a transaction of its own. */
export class Database {
  readonly schema: string;
  readonly place: string;
  readonly #pool: PgPool;
  readonly #system: System;
  readonly #isOwned: boolean;
  readonly #listenedTo = new WeakSet<PgConnection>();
  /** Behind a pooler that shares connections between transactions no statement can be prepared. */
  prepares = true;
  #closed = false;

  constructor(pool: PgPool, isOwned: boolean, schema: string, place: string, system: System) {
    this.#pool = pool;
    this.#isOwned = isOwned;
    this.#system = system;
    this.schema = schema;
    this.place = place;
    // n.b. an error of an idle connection that nobody listens to ends the process; the next query says what is the matter.
    if (isOwned) pool.on?.('error', () => undefined);
  }

  /** Runs `text`, prepared under `name`. Rejects with the client's own error, or with `Unsent` where the server never saw it. */
  async ask(name: string, text: string, values: readonly unknown[]): Promise<readonly PgRow[]> {
    this.checkOpen();
    for (let tries = 1; ; tries++) {
      try {
        return await this.#ask(this.prepares ? { name: `lazaret_${name}`, text, values } : { text, values });
      } catch (error) {
        if (!isConflict(error) || tries >= TRIES) throw error;
        await pause(this.#system, this.#system.random() * LONGEST_PAUSE_MS * tries);
      }
    }
  }

  async #ask(query: PgQuery): Promise<readonly PgRow[]> {
    const connection = await this.connection();
    let isBroken = true;
    try {
      const { rows } = await connection.query(query);
      isBroken = false;
      return rows;
    } catch (error) {
      isBroken = !wasAnswered(error);
      throw error;
    } finally {
      connection.release(isBroken);
    }
  }

  /** The same, with errors for people. */
  async read(name: string, text: string, values: readonly unknown[]): Promise<readonly PgRow[]> {
    try {
      return await this.ask(name, text, values);
    } catch (error) {
      throw explained(error, this.place);
    }
  }

  /** Several statements, without parameters, in one transaction. */
  async script(text: string): Promise<void> {
    await this.#pool.query({ text });
  }

  /** How many connections there are at most, where the pool says so. */
  get size(): number | undefined {
    return this.#pool.options?.max;
  }

  async connection(): Promise<PgConnection> {
    let connection: PgConnection;
    try {
      connection = await this.#pool.connect();
    } catch (error) {
      throw new Unsent(error);
    }
    // n.b. one that fails while it is lent tells its query, and whoever listens; if nobody does the process ends.
    if (!this.#listenedTo.has(connection)) {
      this.#listenedTo.add(connection);
      connection.on('error', () => undefined);
    }
    return connection;
  }

  checkOpen(): void {
    if (this.#closed) throw new LazaretError('LZ1102', `The broker on PostgreSQL at ${this.place} is closed.`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#isOwned) await this.#pool.end();
  }
}

/** As PostgreSQL reads an array of numbers. */
export function numbers(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
