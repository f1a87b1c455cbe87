import { LazaretError } from '../core/errors.ts';
import type { Cancel, System } from '../ports/system.ts';
import type { Database, Statement } from './binding.ts';
import { explained, isBusy } from './errors.ts';
import { afterLock } from './lock-wait.ts';
import { rollBack } from './transaction.ts';

/** One call's share of a transaction. Its items stand for themselves: where all together fail, each stands or falls alone. */
export interface Work {
  /** Claims go last: what was settled and published in the same turn is out of the way, or there to be taken. */
  readonly kind: 'write' | 'claim';
  /** Whether a power cut may not undo it. */
  readonly durable: boolean;
  readonly size: number;
  /** Carries out the items `from` … `to` (exclusive). What it throws is rolled back; then it runs again, until it is about one item. */
  apply(from: number, to: number): void;
  /** These items were not carried out. */
  fail(from: number, to: number, error: Error): void;
  /** All of it is committed or has failed: answers the caller. */
  finish(): void;
}

export interface WriterEvents {
  /** Before the callers are answered. */
  committed(): void;
}

/** So many items go into one transaction; the event loop gets a turn before the next one. */
const ITEMS_PER_TRANSACTION = 10_000;

/**
 * All writes of one connection. What is asked for in the same turn goes into one transaction, since a transaction costs as much
 * as ten messages. Its durability is that of its strictest work: `synchronous=FULL` syncs the log, NORMAL leaves that to the
 * next checkpoint, and a power cut then takes back the last claims and acks, which is a redelivery.
 */
export class Writer {
  readonly #db: Database;
  readonly #file: string;
  readonly #system: System;
  readonly #lockTimeoutMs: number;
  readonly #events: WriterEvents;
  readonly #begin: Statement;
  readonly #commit: Statement;
  #writes: Work[] = [];
  #claims: Work[] = [];
  #scheduled = false;
  #synchronous: 'FULL' | 'NORMAL' | undefined;
  /** When somebody else's lock was met first, and how often since. */
  #lockedSince: number | undefined;
  #lockedTries = 0;
  #wait: Cancel | undefined;
  #ended = false;

  constructor(db: Database, file: string, system: System, lockTimeoutMs: number, events: WriterEvents) {
    this.#db = db;
    this.#file = file;
    this.#system = system;
    this.#lockTimeoutMs = lockTimeoutMs;
    this.#events = events;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  submit(work: Work): void {
    if (this.#ended) {
      work.fail(0, work.size, new LazaretError('LZ1102', `The broker on '${this.#file}' is closed.`));
      work.finish();
      return;
    }
    (work.kind === 'claim' ? this.#claims : this.#writes).push(work);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#flush);
  }

  /** Everything submitted is tried once more, now; what another connection still blocks fails. Nothing is taken after it. */
  end(): void {
    this.#ended = true;
    this.#wait?.();
    while (this.#writes.length + this.#claims.length > 0) this.#flush();
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    const works = this.#take();
    if (works.length === 0) return;
    try {
      this.#transact(works);
    } catch (error) {
      if (isBusy(error)) {
        this.#locked(works, error);
        return;
      }
      for (const work of works) this.#salvage(work, 0, work.size);
    }
    this.#lockedSince = undefined;
    this.#events.committed();
    for (const work of works) work.finish();
    if (this.#writes.length + this.#claims.length > 0) this.#schedule(() => this.#system.turn(this.#flush));
  };

  #take(): Work[] {
    const works: Work[] = [];
    let items = 0;
    for (const queue of [this.#writes, this.#claims]) {
      let taken = 0;
      for (const work of queue) {
        if (items > 0 && items + work.size > ITEMS_PER_TRANSACTION) break;
        items += work.size;
        taken++;
        works.push(work);
      }
      queue.splice(0, taken);
      if (queue.length > 0) break;
    }
    return works;
  }

  #transact(works: readonly Work[], from = 0, to: number = Number.POSITIVE_INFINITY): void {
    this.#setSynchronous(works);
    this.#begin.run();
    try {
      for (const work of works) work.apply(from, Math.min(to, work.size));
      this.#commit.run();
    } catch (error) {
      rollBack(this.#db);
      throw error;
    }
  }

  /** n.b. cannot be changed inside a transaction. */
  #setSynchronous(works: readonly Work[]): void {
    const wanted = works.some((work) => work.durable) ? 'FULL' : 'NORMAL';
    if (wanted === this.#synchronous) return;
    this.#db.exec(`PRAGMA synchronous = ${wanted}`);
    this.#synchronous = wanted;
  }

  /** Together they fail: halved until only the guilty are left, so that they harm no neighbour. */
  #salvage(work: Work, from: number, to: number): void {
    try {
      this.#transact([work], from, to);
    } catch (error) {
      if (to - from <= 1) {
        work.fail(from, to, explained(error, this.#file));
        return;
      }
      const middle = (from + to) >>> 1;
      this.#salvage(work, from, middle);
      this.#salvage(work, middle, to);
    }
  }

  /** Nothing was written: all of it waits, with what comes meanwhile, and is tried again. */
  #locked(works: readonly Work[], error: unknown): void {
    const now = this.#system.monotonic();
    if (this.#lockedSince === undefined) {
      this.#lockedSince = now;
      this.#lockedTries = 0;
    }
    if (this.#ended || now - this.#lockedSince >= this.#lockTimeoutMs) {
      this.#lockedSince = undefined;
      for (const work of works) {
        work.fail(0, work.size, explained(error, this.#file));
        work.finish();
      }
      if (this.#writes.length + this.#claims.length > 0) this.#schedule(() => queueMicrotask(this.#flush));
      return;
    }
    this.#writes.unshift(...works.filter((work) => work.kind === 'write'));
    this.#claims.unshift(...works.filter((work) => work.kind === 'claim'));
    this.#schedule(() => {
      this.#wait = afterLock(this.#lockedTries++, this.#system, this.#flush);
    });
  }

  #schedule(arm: () => void): void {
    if (this.#scheduled || this.#ended) return;
    this.#scheduled = true;
    arm();
  }
}

/** What a work answers, as a promise. */
export function promised<T>(start: (answer: (value: T) => void) => void): Promise<T> {
  return new Promise<T>((resolve) => start(resolve));
}
