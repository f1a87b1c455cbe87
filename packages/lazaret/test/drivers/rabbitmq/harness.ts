import { readEvidence } from '../../../src/core/evidence.ts';
import type { Message } from '../../../src/core/message.ts';
import { headerText } from '../../../src/core/message.ts';
import type { AmqpConnection } from '../../../src/drivers/rabbitmq/amqplib.ts';
import { arrived } from '../../../src/drivers/rabbitmq/arrived.ts';
import { rabbitmq } from '../../../src/drivers/rabbitmq/index.ts';
import { helpersOf } from '../../../src/drivers/rabbitmq/topology.ts';
import { timestamp, writeProperties } from '../../../src/drivers/rabbitmq/wire/properties.ts';
import { sized, writeField } from '../../../src/drivers/rabbitmq/wire/table.ts';
import { keepRawProperties } from '../../../src/drivers/rabbitmq/wire/tap.ts';
import type { Broker, QueueWanted } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import type { Harness, Letter } from '../../../src/testing/index.ts';
import { type Detour, detourTo, through } from '../detour.ts';
import { mortal } from '../mortal.ts';
import { freshName, type Server, sleep } from './server.ts';

/** So long the server needs at most to notice that a connection is gone, and to answer what a case asks of it. */
const LEASE_MS = 600;

interface Client {
  readonly detour: Detour;
  readonly life: { isOver: boolean };
}

/** Who makes the queues of all cases, and deletes them: for each case anew it would take longer than most cases do. */
export class Owner {
  readonly server: Server;
  readonly #broker: Promise<Broker>;
  readonly #deleting: Promise<void>[] = [];

  constructor(server: Server) {
    this.server = server;
    this.#broker = rabbitmq({ url: server.url, settleTime: '0s' }).connect(realSystem);
  }

  async make(queue: string, wanted: QueueWanted): Promise<void> {
    await (await (await this.#broker).provision(queue, wanted)).apply();
  }

  /** Nobody has to wait for it. */
  discard(queues: readonly string[]): void {
    if (queues.length === 0) return;
    const deleting = this.server.deleteQueues(queues);
    deleting.catch(() => undefined);
    this.#deleting.push(deleting);
  }

  async end(): Promise<void> {
    await Promise.all(this.#deleting);
    await (await this.#broker).close();
  }
}

/** A client of its own detour each: it is killed by closing its way to the server, and its timers. */
export async function rabbitHarness(owner: Owner): Promise<Harness> {
  const { server } = owner;
  const { url } = server;
  const clients = new Map<Broker, Client>();
  const made: string[] = [];

  return {
    system: realSystem,
    leaseMs: LEASE_MS,
    native: NATIVE,
    async broker() {
      const detour = await detourTo(url);
      const life = { isOver: false };
      const driver = rabbitmq({ url: through(detour, url), settleTime: '0s' });
      const broker = await driver.connect(mortal(realSystem, life));
      clients.set(broker, { detour, life });
      return broker;
    },
    async kill(broker) {
      const { detour, life } = clients.get(broker)!;
      life.isOver = true;
      await detour.block();
      await sleep(20);
    },
    async cut(broker) {
      clients.get(broker)!.detour.cut();
      await sleep(5);
    },
    pass: (ms) => (ms > 0 ? sleep(ms) : new Promise((resolve) => setImmediate(resolve))),
    async queue({ ordered, retryDelaysMs }) {
      const name = freshName();
      made.push(name, ...helpersOf(name, { retryDelaysMs }).map((helper) => helper.name));
      await owner.make(name, { ordered, retryDelaysMs });
      return name;
    },
    letters: (queue) => lettersOf(server, `${queue}.dlq`),
    async close() {
      for (const { detour } of clients.values()) await detour.block();
      owner.discard(made);
    },
  };
}

/** Takes nothing away: everything is back when the connection ends. */
export async function lettersOf(server: Server, queue: string): Promise<readonly Letter[]> {
  const connection = await server.connection();
  keepRawProperties((connection as unknown as AmqpConnection).connection);
  const channel = await (connection as unknown as AmqpConnection).createChannel();
  const letters: Letter[] = [];
  for (;;) {
    const got = await channel.get(queue, { noAck: false });
    if (got === false) break;
    letters.push(letterOf(arrived(queue, got.properties.raw, got.content).message));
  }
  await connection.close();
  return letters;
}

function letterOf(message: Message): Letter {
  const evidence = readEvidence(headerText(message.headers, 'lazaret-evidence') ?? '');
  return evidence === undefined ? { message } : { message, evidence };
}

/** In the server's own order of names, with what a text cannot say. */
const NATIVE = {
  driver: 'rabbitmq',
  version: 1,
  bytes: writeProperties({
    contentType: Buffer.concat([Buffer.of(10), Buffer.from('text/plain')]),
    headers: sized(
      Buffer.concat([
        writeField('double', 'd', Buffer.of(0x40, 0x14, 0, 0, 0, 0, 0, 0)),
        writeField('long', 'l', Buffer.of(0, 0x20, 0, 0, 0, 0, 0, 1)),
        writeField('nested', 'F', sized(writeField('inner', 's', Buffer.of(0, 5)))),
        writeField('x-death', 'S', sized(Buffer.from('no list'))),
      ]),
    ),
    deliveryMode: Buffer.of(2),
    correlationId: Buffer.concat([Buffer.of(3), Buffer.from('c-1')]),
    timestamp: timestamp(1_700_000_000),
  }),
};
