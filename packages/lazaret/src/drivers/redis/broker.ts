import { LazaretError } from '../../core/errors.ts';
import type { Letter } from '../../core/letter.ts';
import type { Message } from '../../core/message.ts';
import { checkQueueName } from '../../core/queue-name.ts';
import { checkDelay } from '../../core/table-delay.ts';
import { within } from '../../core/within.ts';
import type {
  Address,
  Broker,
  OutgoingMessage,
  Page,
  ProvisionPlan,
  ProvisionStep,
  PublishOptions,
  PublishResult,
  QueueFacts,
  QueueWanted,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { SharedState } from '../../ports/shared-state.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import { makeClient, type RedisClient } from './client.ts';
import { Ear } from './ear.ts';
import { explained, replyCode } from './errors.ts';
import { Facts } from './facts.ts';
import { GROUP, keysOf } from './keys.ts';
import { Link, textOf } from './link.ts';
import { type RedisOptions, type RedisSettings, readOptions } from './options.ts';
import { Publishing } from './publish.ts';
import { lookAtServer, type ServerDescription } from './server.ts';
import { HashSharedState } from './shared-state.ts';
import { RedisSubscription } from './subscription.ts';

/** A broker over the streams of a Redis server, and what else the server tells. */
export interface RedisBroker extends Broker {
  readonly shared: SharedState;
  /** What its server keeps, and what it can lose. */
  describe(): ServerDescription;
  /** Dead letters of a queue, oldest first. */
  letters(queue: string, from: string | undefined, max: number, group?: string): Promise<Page<Letter>>;
}

/** Connects. Rejects with LZ10xx for options that cannot be meant, LZ113x where the server cannot be had. */
export async function openRedis(options: RedisOptions & { readonly system: System }): Promise<RedisBroker> {
  const { system, ...rest } = options;
  const settings = readOptions(rest);
  const client = settings.client ?? (await connected(settings, system));
  const link = new Link(client, settings.client === undefined, settings.place);
  try {
    return new StreamBroker(link, await lookAtServer(link), settings, system);
  } catch (error) {
    link.close();
    throw error;
  }
}

/** n.b. the client tries for ever; who starts wants to know soon. */
async function connected(settings: RedisSettings, system: System): Promise<RedisClient> {
  const { url, place, connectTimeoutMs, answerTimeoutMs } = settings;
  const client = await makeClient({ url: url!, connectTimeoutMs, answerTimeoutMs });
  let last: Error | undefined;
  client.on('error', (error) => {
    last = error;
  });
  const late = () => new Error(`it was not ready after ${connectTimeoutMs} ms`);
  try {
    await within(system, connectTimeoutMs, client.connect!(), late);
    return client;
  } catch (error) {
    client.disconnect();
    throw explained(last ?? error, place);
  }
}

class StreamBroker implements RedisBroker {
  readonly name = 'redis';
  readonly shared: SharedState;
  readonly #link: Link;
  readonly #server: ServerDescription;
  readonly #settings: RedisSettings;
  readonly #system: System;
  readonly #publishing: Publishing;
  readonly #facts: Facts;
  readonly #subscriptions = new Map<RedisSubscription, { readonly stream: string; readonly ear: Ear }>();
  /** Streams that are known to be there. */
  readonly #known = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(link: Link, server: ServerDescription, settings: RedisSettings, system: System) {
    this.shared = new HashSharedState(link);
    this.#link = link;
    this.#server = server;
    this.#settings = settings;
    this.#system = system;
    this.#publishing = new Publishing(link, system, settings.dedupeWindowMs);
    this.#facts = new Facts(link);
  }

  describe(): ServerDescription {
    return this.#server;
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    this.#link.checkOpen();
    checkQueueName(queue);
    if (options.order === 'key') {
      throw new LazaretError('LZ1051', 'A stream of Redis cannot keep the messages of a key in order over a failure.', {
        hint: "Drop ordering: 'key', or use what keeps order: SQLite, PostgreSQL, a Kafka partition, an SQS FIFO queue.",
      });
    }
    const group = options.group ?? GROUP;
    const keys = keysOf(queue, options.group, options.deadLetter);
    const ensure = () => this.#ensure(queue, group, this.#settings.provision === 'all');
    await this.#link.explained(ensure);
    const ear = new Ear(this.#link.blocking(), this.#system, queue);
    const subscription = new RedisSubscription(
      {
        link: this.#link,
        system: this.#system,
        keys,
        group,
        ear,
        deletes: await this.#link.explained(() => this.#isOnlyGroup(queue)),
        ensure,
        touched: () => {
          for (const other of this.#subscriptions.values()) if (other.stream === queue) other.ear.touched();
        },
        closed: (closed) => void this.#subscriptions.delete(closed),
      },
      queue,
      options,
    );
    this.#subscriptions.set(subscription, { stream: queue, ear });
    return subscription;
  }

  async capabilities(queue: string): Promise<Capabilities> {
    checkQueueName(queue);
    return CAPABILITIES;
  }

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    this.#link.checkOpen();
    if (typeof to === 'object') return messages.map(() => 'unroutable');
    checkQueueName(to);
    const delayMs = checkDelay(options.delayMs ?? 0);
    if (this.#settings.provision === 'never' && !(await this.#isThere(to))) return messages.map(() => 'unroutable');
    const results = await this.#publishing.publish(keysOf(to, undefined, undefined), messages, delayMs);
    if (delayMs > 0) for (const { stream, ear } of this.#subscriptions.values()) if (stream === to) ear.touched();
    return results;
  }

  async inspect(queue: string): Promise<QueueFacts> {
    this.#link.checkOpen();
    return this.#facts.of(keysOf(checkQueueName(queue), undefined, undefined));
  }

  async browse(queue: string, from: string | undefined, max: number): Promise<Page<Message>> {
    this.#link.checkOpen();
    return this.#facts.browse(checkQueueName(queue), from, max);
  }

  async letters(queue: string, from: string | undefined, max: number, group?: string): Promise<Page<Letter>> {
    this.#link.checkOpen();
    return this.#facts.letters(keysOf(checkQueueName(queue), group, undefined).dead, from, max);
  }

  async provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    this.#link.checkOpen();
    checkQueueName(queue);
    const steps: ProvisionStep[] = [];
    if (!(await this.#link.explained(() => this.#hasGroup(queue, GROUP)))) {
      steps.push({ action: 'create', what: `stream '${queue}' with group '${GROUP}'`, why: 'the server has none' });
    }
    if (wanted.ordered === true) {
      steps.push({
        action: 'unsupported',
        what: 'order by key',
        why: 'a retry on a stream comes after its successors',
      });
    }
    return { steps, apply: () => this.#link.explained(() => this.#ensure(queue, GROUP, true)) };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const subscription of [...this.#subscriptions.keys()]) await subscription.close();
    this.#link.close();
  }

  /** From the first entry on: what a producer sent before us is work too. */
  async #ensure(stream: string, group: string, mayCreate: boolean): Promise<void> {
    if (!mayCreate) {
      if (await this.#hasGroup(stream, group)) return;
      throw new LazaretError(
        'LZ1302',
        `There is no stream '${stream}' with group '${group}' in Redis at ${this.#link.place}.`,
        {
          hint: "Provision it, or leave out provision: 'never'.",
        },
      );
    }
    try {
      await this.#link.ask('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM');
    } catch (error) {
      if (replyCode(error) !== 'BUSYGROUP') throw error;
    }
  }

  async #hasGroup(stream: string, group: string): Promise<boolean> {
    return (await this.#groups(stream)).includes(group);
  }

  async #isOnlyGroup(stream: string): Promise<boolean> {
    return (await this.#groups(stream)).length <= 1;
  }

  /** None where there is no stream. */
  async #groups(stream: string): Promise<readonly string[]> {
    try {
      const groups = (await this.#link.ask('XINFO', 'GROUPS', stream)) as (readonly unknown[])[];
      return groups.map((group) => textOf(group[1]));
    } catch (error) {
      if (error instanceof Error && error.message.includes('no such key')) return [];
      throw error;
    }
  }

  async #isThere(stream: string): Promise<boolean> {
    if (this.#known.has(stream)) return true;
    const isThere = (await this.#link.explained(() => this.#link.ask('EXISTS', stream))) === 1;
    if (isThere) this.#known.add(stream);
    return isThere;
  }
}
