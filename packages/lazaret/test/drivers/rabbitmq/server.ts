import amqp from 'amqplib';
import { describe, expect, it } from 'vitest';
import { realSystem } from '../../../src/system.ts';

/** The oldest and the newest that we promise to work with. Whatever is in them may be used; what tests made they delete. */
const SERVERS: readonly (readonly [name: string, variable: string])[] = [
  ['RabbitMQ', 'LAZARET_RABBITMQ_URL'],
  ['RabbitMQ 4', 'LAZARET_RABBITMQ4_URL'],
];

/**
 * Registers `tests` once for each server. Where its address is missing they are skipped, and say why; where everything has to be
 * shown (`CI=true`) they fail.
 */
export async function onServers(what: string, tests: (server: Server) => unknown): Promise<void> {
  for (const [name, variable] of SERVERS) {
    const title = `${name}: ${what}`;
    const url = process.env[variable] || undefined;
    const reason = `no server: ${variable} is not set`;
    if (url !== undefined) await tests(new Server(name, url));
    else if (process.env.CI === 'true') it(title, () => expect.fail(reason));
    else {
      console.info(`Skipped: ${title} (${reason})`);
      describe.skip(`${title} (${reason})`, () => it('is skipped', () => undefined));
    }
  }
}

/** A running server, seen past the driver. */
export class Server {
  readonly name: string;
  readonly url: string;

  constructor(name: string, url: string) {
    this.name = name;
    this.url = url;
  }

  /** A connection of a client without a driver. */
  async connection(): Promise<amqp.ChannelModel> {
    const connection = await amqp.connect(this.url, { noDelay: true });
    connection.on('error', () => undefined);
    return connection;
  }

  async plainly<T>(use: (channel: amqp.Channel) => Promise<T>): Promise<T> {
    const connection = await this.connection();
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    try {
      return await use(channel);
    } finally {
      await connection.close();
    }
  }

  /** Those too that are not there. */
  deleteQueues(names: Iterable<string>): Promise<void> {
    return this.plainly(async (channel) => {
      for (const name of names) await channel.deleteQueue(name);
    });
  }

  readyIn(queue: string): Promise<number> {
    return this.plainly(async (channel) => (await channel.checkQueue(queue)).messageCount);
  }
}

/** A name that no other test has. */
export function freshName(): string {
  return `lz-test-${realSystem.id()}`;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
