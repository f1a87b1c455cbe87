import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { realSystem } from '../../../src/system.ts';
import { onServer } from '../on-server.ts';

/** Registers `tests` where the server is. Whatever is on it may be used; what tests made they delete. */
export function onNats(what: string, tests: (server: Server) => unknown): Promise<void> {
  return onServer(`NATS: ${what}`, 'LAZARET_NATS_URL', (url) => tests(new Server(url)));
}

/** A running server, seen past the driver. */
export class Server {
  readonly url: string;
  #connecting: Promise<NatsConnection> | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** A client without a driver, one for all. */
  connection(): Promise<NatsConnection> {
    this.#connecting ??= connect({ servers: new URL(this.url).host, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
    return this.#connecting;
  }

  async manager(): Promise<JetStreamManager> {
    return jetstreamManager(await this.connection(), { checkAPI: false });
  }

  /** Those too that are not there. */
  async deleteStreams(names: Iterable<string>): Promise<void> {
    const manager = await this.manager();
    for (const name of names) await manager.streams.delete(name).catch(() => undefined);
  }

  async end(): Promise<void> {
    await (await this.#connecting)?.close();
  }
}

/** A name that no other test has: a subject, and with the same name a stream. */
export function freshName(): string {
  return `lz-test-${realSystem.id()}`;
}

/** The streams of a queue of ours. */
export function streamsOf(queue: string): readonly string[] {
  return [queue, `${queue}_dlq`];
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
