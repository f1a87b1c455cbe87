import { within } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { AmqpConnection } from './amqplib.ts';
import { noteEnd } from './channel.ts';
import { closedError } from './refusals.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
const CLOSE_WITHIN_MS = 2_000;

/** Who has channels on a connection, and opens them anew on the next one. */
export interface LinkUser {
  /** A rejection means that the connection is of no use. */
  up(connection: AmqpConnection): Promise<void>;
  /** Told at once. Everything on it is gone. */
  down(): void;
}

/** A connection that comes back: dialled again until it is closed, however long that takes. */
export class Link {
  readonly #system: System;
  readonly #dial: () => Promise<AmqpConnection>;
  readonly #users = new Set<LinkUser>();
  readonly #waiting = new Set<(connection: AmqpConnection | undefined) => void>();
  #connection: AmqpConnection | undefined;
  #downSince = 0;
  #lastTrouble: Error | undefined;
  #isClosed = false;
  #opening: Promise<void> | undefined;

  constructor(system: System, dial: () => Promise<AmqpConnection>) {
    this.#system = system;
    this.#dial = dial;
  }

  /** Dials for the first time, once; rejects with what went wrong, and may be called again. */
  open(): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError('connection'));
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  get connection(): AmqpConnection | undefined {
    return this.#connection;
  }

  /** For how long it has been away; 0 while it is there. */
  get awayMs(): number {
    return this.#connection === undefined ? this.#system.monotonic() - this.#downSince : 0;
  }

  /** Why it is away, as far as is known. */
  get trouble(): Error | undefined {
    return this.#lastTrouble;
  }

  /** `undefined` when it does not come back within `ms`. */
  connected(ms: number): Promise<AmqpConnection | undefined> {
    if (this.#connection !== undefined || this.#isClosed) return Promise.resolve(this.#connection);
    return new Promise((resolve) => {
      const answer = (connection: AmqpConnection | undefined) => {
        cancel();
        this.#waiting.delete(answer);
        resolve(connection);
      };
      const cancel = this.#system.after(ms, () => answer(undefined));
      this.#waiting.add(answer);
    });
  }

  /** `user` has seen to the present connection itself; it is told of its end and of the next ones. */
  attach(user: LinkUser): void {
    this.#users.add(user);
  }

  detach(user: LinkUser): void {
    this.#users.delete(user);
  }

  /** Ends `connection` without a word, for one that answers no more; dials the next one. */
  abandon(connection: AmqpConnection, why: Error): void {
    if (connection !== this.#connection) return;
    this.#lost(connection, why);
    connection.connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake(undefined);
    await this.#opening?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    const closing = Promise.resolve().then(() => connection.close());
    await within(this.#system, CLOSE_WITHIN_MS, closing, () => new Error('no answer')).catch(() => undefined);
    connection.connection.stream.destroy();
  }

  async #connect(): Promise<void> {
    const connection = await this.#dial();
    let failure: Error | undefined;
    let isOver = false;
    connection.on('error', (error) => {
      failure = error;
      noteEnd(connection, error);
    });
    // n.b. a server that stops in peace raises no error, only this.
    connection.on('close', (error) => {
      isOver = true;
      this.#lost(connection, failure ?? error ?? new Error('the connection was closed'));
    });
    if (this.#isClosed) {
      connection.connection.stream.destroy();
      throw closedError('connection');
    }
    try {
      for (const user of this.#users) await user.up(connection);
    } catch (error) {
      connection.connection.stream.destroy();
      throw error;
    }
    if (isOver) throw failure ?? new Error('the connection was closed at once');
    this.#connection = connection;
    this.#lastTrouble = undefined;
    this.#wake(connection);
  }

  #lost(connection: AmqpConnection, why: Error): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#lastTrouble = why;
    this.#downSince = this.#system.monotonic();
    for (const user of this.#users) user.down();
    this.#dialAfter(FIRST_PAUSE_MS);
  }

  #dialAfter(pauseMs: number): void {
    if (this.#isClosed) return;
    const spread = 0.5 + this.#system.random();
    this.#system.after(pauseMs * spread, () => {
      if (this.#isClosed) return;
      this.#connect().catch((error: Error) => {
        this.#lastTrouble = error;
        this.#dialAfter(Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
      });
    });
  }

  #wake(connection: AmqpConnection | undefined): void {
    for (const answer of [...this.#waiting]) answer(connection);
  }
}
