import { headerText, type Message } from '../../../src/core/message.ts';
import { type RabbitmqOptions, rabbitmq } from '../../../src/drivers/rabbitmq/index.ts';
import { helpersOf } from '../../../src/drivers/rabbitmq/topology.ts';
import type { Broker, Delivery, OutgoingMessage, SubscribeOptions, Subscription } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import { type Detour, detourTo, through } from '../detour.ts';
import { mortal } from '../mortal.ts';
import { freshName, type Server } from './server.ts';

/** Clients of the real server, each on a way of its own that can be cut, and the queues that are deleted with it. */
export class Scene {
  readonly #server: Server;
  readonly #made: string[] = [];
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  async client(options: Partial<RabbitmqOptions> = {}): Promise<Client> {
    const { url } = this.#server;
    const detour = await detourTo(url);
    const life = { isOver: false };
    const driver = rabbitmq({ url: through(detour, url), settleTime: '0s', ...options });
    const broker = await driver.connect(mortal(realSystem, life));
    this.#ends.push(async () => {
      await broker.close();
      await detour.block();
    });
    return new Client(broker, detour, life);
  }

  /** Provisioned, with these tiers. */
  async queue(retryDelaysMs: readonly number[] = []): Promise<string> {
    const queue = this.name(retryDelaysMs);
    const owner = await this.client();
    await (await owner.broker.provision(queue, { retryDelaysMs })).apply();
    return queue;
  }

  /** Of one that is not there yet. */
  name(retryDelaysMs: readonly number[] = []): string {
    const queue = freshName();
    this.#made.push(queue, ...helpersOf(queue, { retryDelaysMs }).map(({ name }) => name));
    return queue;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    await this.#server.deleteQueues(this.#made.splice(0));
  }
}

export class Client {
  readonly broker: Broker;
  readonly detour: Detour;
  readonly lost: Delivery[] = [];
  suspects = 0;
  readonly #life: { isOver: boolean };

  constructor(broker: Broker, detour: Detour, life: { isOver: boolean }) {
    this.broker = broker;
    this.detour = detour;
    this.#life = life;
  }

  subscribe(queue: string, options: Partial<SubscribeOptions> = {}): Promise<Subscription> {
    return this.broker.subscribe(queue, {
      prefetch: 20,
      leaseMs: 30_000,
      waitMs: 200,
      order: 'none',
      maxAttempts: 4,
      lost: (deliveries) => void this.lost.push(...deliveries),
      suspects: (waiting) => {
        this.suspects = waiting;
      },
      ...options,
    });
  }

  async kill(): Promise<void> {
    this.#life.isOver = true;
    await this.detour.block();
  }
}

export function message(text: string, rest: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { id: text, body: Buffer.from(text), ...rest };
}

export function textOf({ body }: Message): string {
  return Buffer.from(body!).toString();
}

export function header({ headers }: Message, name: string): string | undefined {
  return headerText(headers, name);
}

const NO_SIGNAL = new AbortController().signal;

/** Exactly `count`, or fails after `withinMs`. */
export async function take(subscription: Subscription, count: number, withinMs = 5_000): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  const endAt = performance.now() + withinMs;
  while (taken.length < count && performance.now() < endAt) {
    taken.push(...(await subscription.pull(count - taken.length, NO_SIGNAL)));
  }
  if (taken.length < count) throw new Error(`${taken.length} of ${count} came within ${withinMs} ms`);
  return taken;
}

export async function nothingComes(subscription: Subscription, forMs: number): Promise<boolean> {
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt) if ((await subscription.pull(1, NO_SIGNAL)).length > 0) return false;
  return true;
}
