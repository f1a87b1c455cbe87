import { LazaretError } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';
import { explained, isUnknownScript } from './errors.ts';
import type { Script } from './scripts.ts';

export type Value = string | number | Uint8Array;

/** The server as the driver uses it: commands, and scripts by their hash. */
export class Link {
  readonly place: string;
  readonly #client: RedisClient;
  readonly #isOwned: boolean;
  #closed = false;

  constructor(client: RedisClient, isOwned: boolean, place: string) {
    this.#client = client;
    this.#isOwned = isOwned;
    this.place = place;
    // n.b. an error of a connection that nobody listens to ends the process; the next command says what is the matter.
    if (isOwned) client.on('error', () => undefined);
  }

  /** Rejects with the client's own error. */
  ask(command: string, ...values: Value[]): Promise<unknown> {
    this.checkOpen();
    return this.#client.callBuffer(command, ...values);
  }

  /** Rejects with the client's own error. A server that has forgotten the script is given it again. */
  async run({ sha, text }: Script, keys: readonly string[], values: readonly Value[]): Promise<unknown> {
    try {
      return await this.ask('EVALSHA', sha, keys.length, ...keys, ...values);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.ask('EVAL', text, keys.length, ...keys, ...values);
    }
  }

  /** The same, with errors for people. */
  async explained<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw explained(error, this.place);
    }
  }

  /** A client for reads that block. */
  blocking(): RedisClient {
    const client = this.#client.duplicate({ commandTimeout: undefined, lazyConnect: false, enableOfflineQueue: true });
    client.on('error', () => undefined);
    return client;
  }

  checkOpen(): void {
    if (this.#closed) throw new LazaretError('LZ1102', `The broker on Redis at ${this.place} is closed.`);
  }

  close(): void {
    this.#closed = true;
    if (this.#isOwned) this.#client.disconnect();
  }
}

export function textOf(value: unknown): string {
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
    : String(value);
}
