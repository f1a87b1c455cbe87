import { readEvidence } from '../../../src/core/evidence.ts';
import type { HeaderList, Message } from '../../../src/core/message.ts';
import { headerText } from '../../../src/core/message.ts';
import { kafka } from '../../../src/drivers/kafka/index.ts';
import type { Broker } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import type { Harness, Letter } from '../../../src/testing/index.ts';
import { mortal } from '../mortal.ts';
import { type Life, mortalClient } from './mortal-client.ts';
import { freshName, type Server, sleep } from './server.ts';

/** So long a group needs at most to share its partitions anew, and a server to answer what a case asks of it. */
const LEASE_MS = 1_200;
const PARTITIONS = 2;

/** A fetch that finds nothing makes those wait that come after it. */
const QUICK = { 'fetch.wait.max.ms': 20 };

/** Who makes the topics of all cases, and deletes them. */
export class Owner {
  readonly server: Server;
  readonly #broker: Promise<Broker>;

  constructor(server: Server) {
    this.server = server;
    this.#broker = kafka({ url: server.url, partitions: PARTITIONS, client: server.client }).connect(realSystem);
  }

  async make(queue: string): Promise<void> {
    await (await (await this.#broker).provision(queue, {})).apply();
  }

  async end(): Promise<void> {
    await (await this.#broker).close();
  }
}

export async function kafkaHarness(owner: Owner): Promise<Harness> {
  const { server } = owner;
  const clients = new Map<Broker, { readonly life: Life; die(): Promise<void> }>();

  return {
    system: realSystem,
    leaseMs: LEASE_MS,
    takesOver: true,
    async broker() {
      const life = { isOver: false };
      const { client, die } = mortalClient(server.client, life);
      const driver = kafka({
        url: server.url,
        partitions: PARTITIONS,
        client,
        config: QUICK,
        sessionTimeout: '1200ms',
      });
      const broker = await driver.connect(mortal(realSystem, life));
      clients.set(broker, { life, die });
      return broker;
    },
    kill: (broker) => clients.get(broker)!.die(),
    pass: (ms) => (ms > 0 ? sleep(ms) : new Promise((resolve) => setImmediate(resolve))),
    async queue() {
      const name = freshName();
      await owner.make(name);
      return name;
    },
    letters: (queue) => lettersOf(server, queue),
    close: async () => undefined,
  };
}

export async function lettersOf(server: Server, queue: string, partitions = PARTITIONS): Promise<readonly Letter[]> {
  const records = await server.read(`${queue}.lazaret.dlq`, partitions);
  return records.map(({ key, value, headers }) => {
    const list: HeaderList = headers;
    const id = headerText(list, 'lazaret-id');
    const message: Message = {
      ...(id === undefined ? {} : { id }),
      ...(key === null ? {} : { key: key.toString() }),
      body: value,
      headers: list,
    };
    const evidence = readEvidence(headerText(list, 'lazaret-evidence') ?? '');
    return evidence === undefined ? { message } : { message, evidence };
  });
}
