import amqp from 'amqplib';
import { describe, expect, it } from 'vitest';
import { realSystem } from '../../../src/system.ts';

/** Of a server that is there for tests: what they made in it they delete. */
const URL_VARIABLE = 'LAZARET_RABBITMQ_URL';

const given: string | undefined = process.env[URL_VARIABLE] || undefined;

/** Only inside of what `onServer` runs. */
export const serverUrl: string = given ?? 'amqp://there-is-none';

/** Without a server these tests are skipped, and say why; where everything has to be shown (`CI=true`) they fail. */
export async function onServer(name: string, tests: () => unknown): Promise<void> {
  const reason = `no server: ${URL_VARIABLE} is not set`;
  if (given !== undefined) await tests();
  else if (process.env.CI === 'true') it(name, () => expect.fail(reason));
  else describe.skip(`${name} (${reason})`, () => it('is skipped', () => undefined));
}

/** A name that no other test has. */
export function freshName(): string {
  return `lz-test-${realSystem.id()}`;
}

/** A connection beside the driver, for what a test has to see or do itself. */
export async function plainConnection(url: string = serverUrl): Promise<amqp.ChannelModel> {
  const connection = await amqp.connect(url, { noDelay: true });
  connection.on('error', () => undefined);
  return connection;
}

export async function plainly<T>(use: (channel: amqp.Channel) => Promise<T>): Promise<T> {
  const connection = await plainConnection();
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  try {
    return await use(channel);
  } finally {
    await connection.close();
  }
}

/** Deletes queues, those too that are not there. */
export function deleteQueues(names: Iterable<string>): Promise<void> {
  return plainly(async (channel) => {
    for (const name of names) await channel.deleteQueue(name);
  });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
