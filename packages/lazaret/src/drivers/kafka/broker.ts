import { LazaretError } from '../../core/errors.ts';
import type {
  Address,
  Broker,
  OutgoingMessage,
  ProvisionPlan,
  PublishOptions,
  PublishResult,
  QueueFacts,
  QueueWanted,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import { type KafkaClient, KafkaFailure, type OutgoingRecord, type PartitionLag } from './client.ts';
import type { KafkaSettings } from './options.ts';
import { create, planOf } from './provision.ts';
import { published } from './records.ts';
import {
  closedError,
  isTooLarge,
  isUnanswered,
  isUnknownTopic,
  missingTopic,
  requestError,
  sendError,
} from './refusals.ts';
import { KafkaSubscription } from './subscription.ts';
import { deadLetterTopic, tiersOf } from './tiers.ts';
import { checkName, groupOf } from './topics.ts';

export interface BrokerParts {
  readonly system: System;
  readonly settings: KafkaSettings;
  readonly client: KafkaClient;
}

/** One client for all that is sent and asked, and a member of its own for each subscription. */
export class KafkaBroker implements Broker {
  readonly name = 'kafka';
  readonly #parts: BrokerParts;
  readonly #subscriptions = new Set<KafkaSubscription>();
  #closing: Promise<void> | undefined;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  // --- consuming ----------------------------------------------------------------------------------------------------

  async subscribe(queue: string, wanted: SubscribeOptions): Promise<Subscription> {
    this.#checkOpen();
    checkName(queue, 'queue');
    const { system, settings, client } = this.#parts;
    const group = groupOf(queue, wanted.group ?? settings.group);
    checkName(group.name, 'group');
    await this.#prepare(queue, group.name, wanted);
    const subscription = new KafkaSubscription({
      system,
      client,
      queue,
      groupId: group.id,
      tiers: tiersOf(queue, group.name, wanted.retryDelaysMs),
      letters: deadLetterTopic(queue, group.name, wanted.deadLetter),
      wanted,
      maxMessageBytes: settings.maxMessageBytes,
      joinWithinMs: settings.connectTimeoutMs,
      closed: (closed) => this.#subscriptions.delete(closed),
    });
    this.#subscriptions.add(subscription);
    return subscription.open();
  }

  /** Creates what the options allow; throws LZ1302 for what is missing then. */
  async #prepare(queue: string, group: string, wanted: QueueWanted): Promise<void> {
    const { settings, client } = this.#parts;
    await asked(`to prepare '${queue}'`, async () => {
      const missing = (await planOf(client, queue, group, wanted, settings)).filter(
        ({ action }) => action === 'create',
      );
      const ours = missing.filter(({ what }) => {
        if (settings.provision === 'all') return true;
        return settings.provision === 'helpers' && what !== queue;
      });
      const absent = missing.find((step) => !ours.includes(step));
      if (absent !== undefined) throw missingTopic(absent.what);
      await create(client, ours);
    });
  }

  async capabilities(queue: string): Promise<Capabilities> {
    this.#checkOpen();
    checkName(queue, 'queue');
    return CAPABILITIES;
  }

  // --- publishing ---------------------------------------------------------------------------------------------------

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    { delayMs = 0 }: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    this.#checkOpen();
    const topic = topicOf(to);
    if (delayMs > 0) {
      throw new LazaretError(
        'LZ1132',
        `Kafka cannot keep a message back, and a delay of ${delayMs} ms was asked for.`,
        {
          hint: 'Publish it without a delay; a handler may retry it later.',
        },
      );
    }
    const results = new Array<PublishResult>(messages.length);
    const records: OutgoingRecord[] = [];
    const indexes: number[] = [];
    for (const [index, message] of messages.entries()) {
      try {
        records.push(published(topic, message));
        indexes.push(index);
      } catch (error) {
        results[index] = error as Error;
      }
    }
    const sent = await this.#parts.client.send(records);
    for (const [at, result] of sent.entries()) {
      results[indexes[at]!] = result === 'done' ? 'done' : publishResult(result, topic);
    }
    return results;
  }

  // --- looking ------------------------------------------------------------------------------------------------------

  /** Of the group in the driver's options. Offsets are counted, among them those of transactions and of what is done above the watermark. */
  async inspect(queue: string): Promise<QueueFacts> {
    this.#checkOpen();
    checkName(queue, 'queue');
    const { client, settings } = this.#parts;
    const group = groupOf(queue, settings.group);
    const letters = deadLetterTopic(queue, group.name);
    const tiers = tiersOf(queue, group.name, [Number.POSITIVE_INFINITY]).map(({ name }) => name);
    const lag = await asked(`to inspect '${queue}'`, () => client.lag(group.id, [queue, letters, ...tiers]));
    if (!lag.some(({ topic }) => topic === queue)) throw missingTopic(queue);
    return {
      ready: sum(lag, (each) => (each.topic === queue ? behind(each) : 0)),
      delayed: sum(lag, (each) => (each.topic !== queue && each.topic !== letters ? behind(each) : 0)),
      dead: sum(lag, (each) => (each.topic === letters ? each.end - each.begin : 0)),
      approximate: true,
    };
  }

  async provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    this.#checkOpen();
    checkName(queue, 'queue');
    const { client, settings } = this.#parts;
    const what = `to provision '${queue}'`;
    const { name } = groupOf(queue, settings.group);
    const steps = await asked(what, () => planOf(client, queue, name, wanted, settings));
    return {
      steps: steps.map(({ action, what, why }) => ({ action, what, why })),
      apply: () => asked(what, () => create(client, steps)),
    };
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    await this.#parts.client.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedError('connection to Kafka');
  }
}

function topicOf(to: Address): string {
  if (typeof to !== 'string') {
    throw new LazaretError('LZ1132', 'Kafka has no exchanges.', { hint: 'Publish to the name of a topic.' });
  }
  checkName(to, 'queue');
  return to;
}

function publishResult(failure: KafkaFailure, topic: string): PublishResult {
  if (isUnknownTopic(failure)) return 'unroutable';
  if (isUnanswered(failure) && !isTooLarge(failure)) return 'unknown';
  return sendError(failure, topic);
}

function behind({ begin, end, committed }: PartitionLag): number {
  return Math.max(0, end - Math.max(begin, committed ?? begin));
}

function sum(lag: readonly PartitionLag[], count: (each: PartitionLag) => number): number {
  return lag.reduce((total, each) => total + count(each), 0);
}

async function asked<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KafkaFailure ? requestError(error, what) : error;
  }
}
