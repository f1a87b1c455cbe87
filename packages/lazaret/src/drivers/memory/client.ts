import { LazaretError } from '../../core/errors.ts';
import type { Cancel, System } from '../../ports/system.ts';

/** What a subscription hears about its process and its connection. */
export interface Session {
  /** The connection is gone; the process lives. */
  cut(): void;
  /** The connection is back. */
  restored(): void;
  /** The process is gone: it hears and says nothing any more, but the server may not know yet. */
  died(): void;
  close(): Promise<void>;
}

/** One process that talks to the server: it can lose its connection, die without a word, or leave in order. */
export class Client {
  readonly system: System;
  readonly #reconnectMs: number;
  readonly #sessions = new Set<Session>();
  #state: 'connected' | 'cut' | 'dead' | 'closed' = 'connected';
  #restoring: Cancel | undefined;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(system: System, reconnectMs: number) {
    this.system = system;
    this.#reconnectMs = reconnectMs;
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  attach(session: Session): void {
    this.#sessions.add(session);
  }

  detach(session: Session): void {
    this.#sessions.delete(session);
  }

  /** Resolves while there is a connection, or when it is back. Never settles for a dead process; throws LZ1102 once closed. */
  connected(): Promise<void> {
    switch (this.#state) {
      case 'connected':
        return Promise.resolve();
      case 'cut':
        return this.reconnected();
      case 'dead':
        return new Promise(() => undefined);
      case 'closed':
        return Promise.reject(closedError());
    }
  }

  /** Resolves when the connection has been cut and is back. */
  reconnected(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** `value`, unless the process died meanwhile: then nothing ever. */
  hear<T>(value: T): T | Promise<T> {
    return this.#state === 'dead' ? new Promise<T>(() => undefined) : value;
  }

  cut(): void {
    if (this.#state !== 'connected') return;
    this.#state = 'cut';
    for (const session of this.#sessions) session.cut();
    this.#restoring = this.system.after(this.#reconnectMs, () => this.#restore());
  }

  kill(): void {
    if (this.#state === 'dead' || this.#state === 'closed') return;
    this.#state = 'dead';
    this.#restoring?.();
    this.#waiting = [];
    for (const session of [...this.#sessions]) session.died();
    this.#sessions.clear();
  }

  async close(): Promise<void> {
    if (this.#state === 'dead' || this.#state === 'closed') return;
    for (const session of [...this.#sessions]) await session.close();
    this.#state = 'closed';
    this.#restoring?.();
    for (const { reject } of this.#waiting.splice(0)) reject(closedError());
  }

  #restore(): void {
    this.#state = 'connected';
    for (const session of this.#sessions) session.restored();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}

export function closedError(): LazaretError {
  return new LazaretError('LZ1102', 'The memory driver is closed.', { hint: 'Connect a new one.' });
}
