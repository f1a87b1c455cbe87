import { readEvidence } from '../../../src/core/evidence.ts';
import { headerText, type Message } from '../../../src/core/message.ts';
import { messageOf } from '../../../src/drivers/nats/arrival.ts';
import { nats } from '../../../src/drivers/nats/index.ts';
import type { Broker, QueueWanted } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import type { Harness, Letter } from '../../../src/testing/index.ts';
import { type Detour, detourTo, through } from '../detour.ts';
import { mortal } from '../mortal.ts';
import { freshName, type Server, sleep, streamsOf } from './server.ts';

const LEASE_MS = 600;

interface Client {
  readonly detour: Detour;
  readonly life: { isOver: boolean };
}

/** Who makes the queues of all cases, and deletes them. */
export class Owner {
  readonly server: Server;
  readonly #broker: Promise<Broker>;
  readonly #deleting: Promise<void>[] = [];
  /** n.b. with its last stream the server deletes the folder of an account, also under one that is being created (seen on 2.9.10). */
  readonly #anchor = freshName();

  constructor(server: Server) {
    this.server = server;
    this.#broker = nats({ url: server.url, ackWait: `${LEASE_MS}ms` }).connect(realSystem);
  }

  async begin(): Promise<void> {
    await this.make(this.#anchor, {});
  }

  async make(queue: string, wanted: QueueWanted): Promise<void> {
    await (await (await this.#broker).provision(queue, wanted)).apply();
  }

  /** Nobody has to wait for it. */
  discard(streams: readonly string[]): void {
    const deleting = this.server.deleteStreams(streams);
    deleting.catch(() => undefined);
    this.#deleting.push(deleting);
  }

  async end(): Promise<void> {
    await Promise.all(this.#deleting);
    await this.server.deleteStreams(streamsOf(this.#anchor));
    await (await this.#broker).close();
    await this.server.end();
  }
}

/** A client of its own detour each: it is killed by closing its way to the server, and its timers. A cut takes no lease away, so there is none. */
export async function natsHarness(owner: Owner): Promise<Harness> {
  const { server } = owner;
  const { url } = server;
  const clients = new Map<Broker, Client>();
  const made: string[] = [];

  return {
    system: realSystem,
    leaseMs: LEASE_MS,
    dedupeWindowMs: 120_000,
    async broker() {
      const detour = await detourTo(url);
      const life = { isOver: false };
      const driver = nats({ url: through(detour, url), ackWait: `${LEASE_MS}ms` });
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
    pass: (ms) => (ms > 0 ? sleep(ms) : new Promise((resolve) => setImmediate(resolve))),
    async queue({ ordered, retryDelaysMs }) {
      const name = freshName();
      made.push(...streamsOf(name));
      await owner.make(name, { ordered, retryDelaysMs });
      return name;
    },
    letters: (queue) => lettersOf(server, `${queue}_dlq`),
    async close() {
      for (const { detour } of clients.values()) await detour.block();
      owner.discard(made);
    },
  };
}

/** Takes nothing away. */
export async function lettersOf(server: Server, stream: string): Promise<readonly Letter[]> {
  const manager = await server.manager();
  const letters: Letter[] = [];
  const { state } = await manager.streams.info(stream);
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const stored = await manager.streams.getMessage(stream, { seq });
    if (stored !== null)
      letters.push(letterOf(messageOf({ data: stored.data, headers: stored.header }, `${stream}:${seq}`)));
  }
  return letters;
}

function letterOf(message: Message): Letter {
  const evidence = readEvidence(headerText(message.headers, 'lazaret-evidence') ?? '');
  return evidence === undefined ? { message } : { message, evidence };
}
