import type { JetStreamManager } from '@nats-io/jetstream';
import { type NatsOptions, nats } from '../../../src/drivers/nats/index.ts';
import type { Broker, Delivery, OutgoingMessage, SubscribeOptions, Subscription } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import { type Detour, detourTo, through } from '../detour.ts';
import { freshName, type Server, streamsOf } from './server.ts';

/** Clients of the real server, each on a way of its own that can be cut, and the streams that are deleted with it. */
export class Scene {
  readonly server: Server;
  readonly #made: string[] = [];
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(server: Server) {
    this.server = server;
  }

  get manager(): Promise<JetStreamManager> {
    return this.server.manager();
  }

  async client(options: Partial<NatsOptions> = {}): Promise<Client> {
    const { url } = this.server;
    const detour = await detourTo(url);
    const broker = await nats({ url: through(detour, url), ...options }).connect(realSystem);
    this.#ends.push(async () => {
      await broker.close();
      await detour.block();
    });
    return new Client(broker, detour);
  }

  /** Provisioned, with this lease. */
  async queue(ackWait = '90s'): Promise<string> {
    const queue = this.name();
    const { broker } = await this.client({ ackWait });
    await (await broker.provision(queue, {})).apply();
    return queue;
  }

  /** Of one that is not there yet. */
  name(): string {
    const queue = freshName();
    this.#made.push(...streamsOf(queue));
    return queue;
  }

  discard(...streams: string[]): void {
    this.#made.push(...streams);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    await this.server.deleteStreams(this.#made.splice(0));
  }
}

export class Client {
  readonly broker: Broker;
  readonly detour: Detour;
  readonly lost: Delivery[] = [];

  constructor(broker: Broker, detour: Detour) {
    this.broker = broker;
    this.detour = detour;
  }

  subscribe(queue: string, options: Partial<SubscribeOptions> = {}): Promise<Subscription> {
    return this.broker.subscribe(queue, {
      prefetch: 20,
      leaseMs: 1,
      waitMs: 1_000,
      order: 'none',
      maxAttempts: 4,
      lost: (deliveries) => void this.lost.push(...deliveries),
      suspects: () => undefined,
      ...options,
    });
  }
}

export async function one(subscription: Subscription): Promise<Delivery> {
  const [delivery] = await subscription.pull(1, new AbortController().signal);
  if (delivery === undefined) throw new Error('nothing came');
  return delivery;
}

export function message(text: string, rest: Omit<OutgoingMessage, 'body'> = {}): OutgoingMessage {
  return { body: Buffer.from(text), ...rest };
}

export function textOf(body: Uint8Array | null): string {
  return Buffer.from(body ?? []).toString();
}
