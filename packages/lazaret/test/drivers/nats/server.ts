import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { realSystem } from '../../../src/system.ts';

const VARIABLE = 'LAZARET_NATS_URL';

/**
 * Registers `tests` where the server is. Where its address is missing they are skipped, and say why; where everything has to be
 * shown (`CI=true`) they fail. Whatever is on the server may be used; what tests made they delete.
 */
export async function onServer(what: string, tests: (server: Server) => unknown): Promise<void> {
  const title = `NATS: ${what}`;
  const url = process.env[VARIABLE] || undefined;
  const reason = `no server: ${VARIABLE} is not set`;
  if (url !== undefined) await tests(new Server(url));
  else if (process.env.CI === 'true') it(title, () => expect.fail(reason));
  else {
    console.info(`Skipped: ${title} (${reason})`);
    describe.skip(`${title} (${reason})`, () => it('is skipped', () => undefined));
  }
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
