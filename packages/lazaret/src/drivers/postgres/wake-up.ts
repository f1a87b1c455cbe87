import type { Cancel, System } from '../../ports/system.ts';
import type { PgConnection } from './client.ts';
import type { Database } from './database.ts';

/** A process says at most so often that there is something new. */
const NOTIFY_EVERY_MS = 10;
/** What was written past us, or said while nobody listened, is found after this long. */
const LISTENING_POLL_MS = 1_000;
/** Where nobody can listen. */
const BLIND_POLL_MS = 200;
/** So long a word of our own may take to come back; behind a pooler that shares connections it never does. */
const ECHO_MS = 1_000;
const LISTEN_AGAIN_MS = 1_000;

interface Waiter {
  readonly queue: number;
  readonly wake: () => void;
}

/**
 * Who waits for a message of an empty queue. Our own writes wake at once, those of other processes by LISTEN and NOTIFY; and what nobody
 * says is found by looking now and then.
 */
export class WakeUp {
  readonly #database: Database;
  readonly #system: System;
  readonly #channel: string;
  readonly #waiters = new Set<Waiter>();
  /** Counts what was heard of each queue, so that nothing is missed between a look and the wait after it. */
  readonly #heard = new Map<number, number>();
  /** Queues that other processes have not been told of yet. */
  readonly #untold = new Set<number>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #telling: Cancel | undefined;
  #listener: PgConnection | undefined;
  #again: Cancel | undefined;
  #ended = false;

  constructor(database: Database, system: System) {
    this.#database = database;
    this.#system = system;
    this.#channel = `lazaret_${database.schema}`;
  }

  /** `false`: words do not come back, as behind a pooler that gives every transaction another connection. */
  async listen(): Promise<boolean> {
    const echo = `echo ${this.#system.id()}`;
    let cancel: Cancel | undefined;
    const isHeard = new Promise<boolean>((resolve) => {
      this.#echo = (payload) => payload === echo && resolve(true);
      cancel = this.#system.after(ECHO_MS, () => resolve(false));
    });
    await this.#open();
    if (this.#listener === undefined) return false;
    await this.#say(echo);
    const heard = await isHeard;
    cancel?.();
    this.#echo = undefined;
    if (!heard) this.#hangUp();
    return heard;
  }

  #echo: ((payload: string) => unknown) | undefined;

  /** What was heard of `queue` so far: hand it to the wait after the look. */
  heardOf(queue: number): number {
    return this.#heard.get(queue) ?? 0;
  }

  /** Something of `queue` is ready, or is due sooner than others may think. */
  touched(queue: number): void {
    this.#hear(queue);
    this.#untold.add(queue);
    if (this.#telling !== undefined || this.#ended) return;
    const waitMs = Math.max(0, this.#toldAt + NOTIFY_EVERY_MS - this.#system.monotonic());
    this.#telling = this.#system.after(waitMs, () => void this.#tell());
  }

  /** Resolves when it is worth looking again: something was heard since `heard`, `ms` passed, or the signal says to ask no more. */
  wait(queue: number, heard: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.heardOf(queue) !== heard || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', wake);
        cancel();
        resolve();
      };
      const waiter: Waiter = { queue, wake };
      const poll = this.#listener === undefined ? BLIND_POLL_MS : LISTENING_POLL_MS;
      const cancel = this.#system.after(Math.min(ms, poll), wake);
      signal.addEventListener('abort', wake);
      this.#waiters.add(waiter);
    });
  }

  /** Everybody stops waiting. */
  wakeAll(): void {
    for (const { wake } of [...this.#waiters]) wake();
  }

  /** What others do not know yet is told. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#again?.();
    this.#telling?.();
    if (this.#untold.size > 0) await this.#tell();
    this.#hangUp();
    this.wakeAll();
  }

  #hear(queue: number): void {
    this.#heard.set(queue, this.heardOf(queue) + 1);
    for (const waiter of [...this.#waiters]) if (waiter.queue === queue) waiter.wake();
  }

  /** n.b. never inside somebody's transaction: NOTIFY serialises the commits of all who use it. */
  async #tell(): Promise<void> {
    this.#telling = undefined;
    this.#toldAt = this.#system.monotonic();
    const queues = [...this.#untold];
    this.#untold.clear();
    await this.#say(queues.join(' '));
  }

  /** Who does not hear it looks now and then. */
  async #say(payload: string): Promise<void> {
    try {
      await this.#database.ask('notify', 'SELECT pg_notify($1, $2)', [this.#channel, payload]);
    } catch {
      // As above.
    }
  }

  async #open(): Promise<void> {
    let connection: PgConnection;
    try {
      connection = await this.#database.connection();
    } catch {
      return;
    }
    const lost = () => {
      if (this.#listener !== connection) return;
      this.#hangUp();
      this.#openLater();
    };
    connection.on('error', lost);
    connection.on('end', lost);
    connection.on('notification', ({ payload = '' }) => this.#heardWord(payload));
    try {
      await connection.query({ text: `LISTEN ${this.#channel}` });
      this.#listener = connection;
      if (this.#ended) this.#hangUp();
    } catch {
      connection.release(true);
    }
  }

  #openLater(): void {
    if (this.#ended) return;
    this.#again = this.#system.after(LISTEN_AGAIN_MS * (0.5 + this.#system.random()), async () => {
      await this.#open();
      if (this.#listener === undefined) this.#openLater();
      else this.wakeAll();
    });
  }

  #heardWord(payload: string): void {
    if (this.#echo?.(payload)) return;
    for (const queue of payload.split(' ')) if (/^[0-9]{1,10}$/.test(queue)) this.#hear(Number(queue));
  }

  #hangUp(): void {
    const connection = this.#listener;
    this.#listener = undefined;
    // n.b. what listens is not given to anybody else.
    connection?.release(true);
  }
}
