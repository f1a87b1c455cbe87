import type { Cancel, System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';
import { BEHIND } from './schema.ts';

/** How often other connections' writes are looked for while somebody waits: less often the longer none came. */
const SHORTEST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 50;
const LOOK_GROWTH = 1.1;

interface Waiter {
  readonly queue: number;
  readonly wake: () => void;
  /** Each time that other connections' writes are looked for. */
  readonly look: () => void;
  /** When the next message of the queue is due. */
  dueAt: number;
}

/**
 * Who waits for a message of an empty queue. Our own writes wake at once; those of other processes show in
 * `PRAGMA data_version`, a read of shared memory; and what is due later has its time. One timer for all of it.
 */
export class WakeUp {
  readonly #system: System;
  readonly #dataVersion: Statement;
  readonly #nextDue: Statement;
  readonly #waiters = new Set<Waiter>();
  /** Queues that the transaction under way brings something for. */
  readonly #ready = new Set<number>();
  #seenVersion: unknown;
  #lookMs = SHORTEST_LOOK_MS;
  #timer: Cancel | undefined;

  constructor(db: Database, system: System) {
    this.#system = system;
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#nextDue = db.prepare(
      'SELECT visible_at FROM lazaret_messages WHERE queue = +? AND starts < 2 ORDER BY visible_at LIMIT 1',
    );
  }

  /** Inside a transaction: a message of `queue` will be due at `at`. */
  touched(queue: number, at: number): void {
    if (at <= this.#system.now()) this.#ready.add(queue);
    else if (this.#waiters.size > 0) this.#postpone(queue, at);
  }

  /** The transaction is through. (After a rollback somebody looks in vain; that does no harm.) */
  committed(): void {
    if (this.#ready.size === 0) return;
    for (const queue of this.#ready) {
      for (const waiter of [...this.#waiters]) if (waiter.queue === queue) waiter.wake();
    }
    this.#ready.clear();
  }

  /** Resolves when it is worth looking again: something is or got ready, `ms` passed, or the signal says to ask no more. */
  wait(queue: number, ms: number, signal: AbortSignal, look: () => void): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', wake);
        cancelTimeout();
        if (this.#waiters.size === 0) this.#rest();
        resolve();
      };
      const waiter: Waiter = { queue, wake, look, dueAt: BEHIND };
      const cancelTimeout = this.#system.after(ms, wake);
      signal.addEventListener('abort', wake);
      if (this.#waiters.size === 0) this.#seenVersion = undefined;
      this.#waiters.add(waiter);
      this.#expect(waiter);
      this.#arm();
    });
  }

  /** Everybody stops waiting. */
  wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.wake();
  }

  #rest(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#lookMs = SHORTEST_LOOK_MS;
  }

  #postpone(queue: number, at: number): void {
    let sooner = false;
    for (const waiter of this.#waiters) {
      if (waiter.queue !== queue || waiter.dueAt <= at) continue;
      waiter.dueAt = at;
      sooner = true;
    }
    if (sooner) this.#arm();
  }

  /** Finds out when the next message is due. Where one is already, whoever waits gets the next turn: the loop must not starve. */
  #expect(waiter: Waiter): void {
    const dueAt = (this.#nextDue.get(waiter.queue)?.[0] ?? BEHIND) as number;
    const isDue = dueAt <= this.#system.now();
    waiter.dueAt = isDue ? BEHIND : dueAt;
    if (isDue) this.#system.turn(waiter.wake);
  }

  #arm(): void {
    this.#timer?.();
    this.#timer = undefined;
    if (this.#waiters.size === 0) return;
    const now = this.#system.now();
    let inMs = this.#lookMs;
    for (const { dueAt } of this.#waiters) inMs = Math.min(inMs, Math.max(0, dueAt - now));
    this.#timer = this.#system.after(inMs, this.#look);
  }

  readonly #look = (): void => {
    try {
      this.#lookForWrites();
    } catch {
      // Whoever waits tries again, and meets the error where it can be told.
      this.wakeAll();
    }
    this.#arm();
  };

  #lookForWrites(): void {
    const version = this.#dataVersion.get()?.[0];
    const changed = version !== this.#seenVersion;
    this.#seenVersion = version;
    this.#lookMs = changed ? SHORTEST_LOOK_MS : Math.min(Math.ceil(this.#lookMs * LOOK_GROWTH), LONGEST_LOOK_MS);
    const now = this.#system.now();
    for (const waiter of [...this.#waiters]) {
      waiter.look();
      if (changed || waiter.dueAt <= now) this.#expect(waiter);
    }
  }
}
