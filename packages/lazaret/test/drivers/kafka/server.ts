import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Confluent } from '../../../src/drivers/kafka/confluent-types.ts';
import { realSystem } from '../../../src/system.ts';
import { onServer } from '../on-server.ts';

const CLIENT = fileURLToPath(new URL('../../../../../scripts/kafka-client/package.json', import.meta.url));

/** What tests use of the client beside what the driver does. */
export interface Client extends Confluent {
  readonly KafkaConsumer: Confluent['KafkaConsumer'] & (new (...args: never[]) => RawConsumer);
}

interface RawConsumer {
  assign(partitions: readonly { topic: string; partition: number; offset: number }[]): void;
  queryWatermarkOffsets(
    topic: string,
    partition: number,
    timeoutMs: number,
    done: (error: unknown, offsets: { lowOffset: number; highOffset: number }) => void,
  ): void;
}

interface RawAdmin {
  listTopics(options: { timeout: number }, done: (error: unknown, names: readonly string[]) => void): void;
  deleteTopic(name: string, timeoutMs: number, done: (error: unknown) => void): void;
  disconnect(): void;
}

/** Registers `tests` where a Kafka server and the client can be had. Whatever is in it may be used; topics of tests are deleted. */
export async function onKafka(what: string, tests: (server: Server) => unknown): Promise<void> {
  const title = `Kafka: ${what}`;
  await onServer(title, 'LAZARET_KAFKA_BROKERS', async (brokers) => {
    const load = createRequire(CLIENT);
    const reason = 'no client: run scripts/kafka-client/install';
    if (existsSync(CLIENT.replace('package.json', 'node_modules/@confluentinc/kafka-javascript/build/Release'))) {
      const server = new Server(brokers, load('@confluentinc/kafka-javascript') as Client);
      // n.b. a server with thousands of topics is slow to come back.
      afterAll(() => server.discard(named.splice(0)), 60_000);
      await tests(server);
    } else if (process.env.CI === 'true') it(title, () => expect.fail(reason));
    else {
      console.info(`Skipped: ${title} (${reason})`);
      describe.skip(`${title} (${reason})`, () => it('is skipped', () => undefined));
    }
  });
}

export interface RawRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [string, Buffer])[];
}

/** A running server, seen past the driver. */
export class Server {
  readonly brokers: string;
  readonly client: Client;

  constructor(brokers: string, client: Client) {
    this.brokers = brokers;
    this.client = client;
  }

  get url(): string {
    return `kafka:${this.brokers}`;
  }

  /** With all helpers. Nobody has to wait for more than the call. */
  async discard(queues: readonly string[]): Promise<void> {
    if (queues.length === 0) return;
    const admin = this.client.AdminClient.create(
      { 'bootstrap.servers': this.brokers, log_level: 0 },
      {},
    ) as unknown as RawAdmin;
    const all = await new Promise<readonly string[]>((resolve) => {
      admin.listTopics({ timeout: 5_000 }, (error, names) => resolve(error ? [] : names));
    });
    const ours = all.filter((name) => queues.some((queue) => name === queue || name.startsWith(`${queue}.`)));
    // n.b. the server has heard of all of them long before it has deleted them.
    const deleting = Promise.all(
      ours.map((name) => new Promise<void>((resolve) => admin.deleteTopic(name, 10_000, () => resolve()))),
    );
    await Promise.race([deleting, sleep(3_000)]);
    admin.disconnect();
  }

  /** Everything that a topic holds now, without a group. */
  async read(topic: string, partitions: number): Promise<readonly RawRecord[]> {
    const config = {
      'bootstrap.servers': this.brokers,
      'group.id': 'none',
      'enable.auto.commit': false,
      'fetch.wait.max.ms': 10,
    };
    const raw = new this.client.KafkaConsumer(config, { 'auto.offset.reset': 'earliest' });
    const consumer = raw as typeof raw & RawConsumer;
    await new Promise<void>((resolve, reject) => {
      consumer.connect({ timeout: 5_000 }, (error) => (error ? reject(error) : resolve()));
    });
    const records: RawRecord[] = [];
    try {
      let left = 0;
      for (let partition = 0; partition < partitions; partition++) {
        left += await new Promise<number>((resolve, reject) => {
          consumer.queryWatermarkOffsets(topic, partition, 5_000, (error, offsets) => {
            if (error) reject(error);
            else resolve(offsets.highOffset - offsets.lowOffset);
          });
        });
      }
      consumer.assign(Array.from({ length: partitions }, (_, partition) => ({ topic, partition, offset: 0 })));
      consumer.setDefaultConsumeTimeout(20);
      while (records.length < left) {
        const got = await new Promise<readonly RawRecord[]>((resolve, reject) => {
          consumer.consume(100, (error, list) => (error ? reject(error) : resolve(list as unknown as RawRecord[])));
        });
        records.push(...got.map((record) => ({ ...record, headers: headersOf(record.headers) })));
      }
    } finally {
      await new Promise<void>((resolve) => consumer.disconnect(resolve));
    }
    return records.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
  }
}

function headersOf(native: unknown): readonly (readonly [string, Buffer])[] {
  return ((native as object[] | undefined) ?? []).map((header) => {
    const [entry] = Object.entries(header) as [string, Buffer][];
    return entry ?? ['__proto__', Buffer.from(Object.getPrototypeOf(header) as Uint8Array)];
  });
}

/** Names that tests of this file have been given. */
const named: string[] = [];

/** A name that no other test has. */
export function freshName(): string {
  const name = `lz-test-${realSystem.id()}`;
  named.push(name);
  return name;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
