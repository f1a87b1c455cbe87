import { LazaretError } from '../../core/errors.ts';
import { HEADER } from '../../core/headers.ts';
import { withHeader } from '../../core/message.ts';
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
import type { AmqpConnection } from './amqplib.ts';
import { capabilitiesOf } from './capabilities.ts';
import { onChannel } from './channel.ts';
import { Link } from './link.ts';
import type { RabbitmqSettings } from './options.ts';
import { publishedProperties } from './outgoing.ts';
import { Outlet, type Parcel, type Sent } from './outlet.ts';
import { parcelTo } from './parcel.ts';
import { create, missingOf, planOf, survey } from './provision.ts';
import { closedError, codeOf, missingQueue, requestError } from './refusals.ts';
import { RabbitSubscription } from './subscription.ts';
import { type Stay, stayFor, type Tier, tierName, tiersOf } from './tiers.ts';
import { checkName, deadLetterQueue, helpersOf, mainQueue } from './topology.ts';
import { habitsOf } from './versions.ts';

const ANSWER_WITHIN_MS = 8_000;

export interface BrokerParts {
  readonly system: System;
  readonly settings: RabbitmqSettings;
  readonly dial: () => Promise<AmqpConnection>;
}

/**
 * One process's view of the server, over two connections: a server that has an alarm reads nothing more from one that publishes,
 * and the acknowledgements of a consumer would wait there with it.
 */
export class RabbitBroker implements Broker {
  readonly name = 'rabbitmq';
  readonly #system: System;
  readonly #settings: RabbitmqSettings;
  readonly #intake: Link;
  readonly #outgoing: Link;
  /** Apart from each other, so that what a caller publishes wrongly takes no copy of ours along. */
  readonly #copies: Outlet;
  readonly #callers: Outlet;
  readonly #subscriptions = new Set<RabbitSubscription>();
  /** Of the queues that were provisioned or consumed here. */
  readonly #tiers = new Map<string, readonly Tier[]>();
  readonly #deadLetters = new Map<string, string>();
  /** Exchanges that were seen: publishing to one that is missing ends the channel. */
  readonly #exchanges = new Set<string>();
  #isClosed = false;

  constructor({ system, settings, dial }: BrokerParts) {
    this.#system = system;
    this.#settings = settings;
    this.#intake = new Link(system, dial);
    this.#outgoing = new Link(system, dial);
    this.#copies = new Outlet(system, this.#outgoing, settings.confirmTimeoutMs);
    this.#callers = new Outlet(system, this.#outgoing, settings.confirmTimeoutMs);
  }

  /** Rejects with one clear error where there is no server, or it refuses us. */
  async open(): Promise<void> {
    await this.#outgoing.open();
  }

  // --- consuming --------------------------------------------------------------------------------------------------------

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    this.#checkOpen();
    checkName(queue);
    this.#refuseForeignOptions(options);
    const connection = await this.#reading();
    const { deadLetter, retryDelaysMs } = options;
    await this.#ensure(connection, queue, {
      ...(deadLetter === undefined ? {} : { deadLetter }),
      ...(retryDelaysMs === undefined ? {} : { retryDelaysMs }),
    });
    const subscription = new RabbitSubscription({
      system: this.#system,
      intake: this.#intake,
      outlet: this.#copies,
      queue,
      options,
      capabilities: this.#capabilities(),
      tiers: this.#tiers.get(queue)!,
      habits: () => habitsOf(this.#intake.connection?.connection.serverProperties ?? {}),
      consumerTimeoutMs: this.#settings.consumerTimeoutMs,
      depth: (name) => this.#depth(name),
      closed: (closed) => void this.#subscriptions.delete(closed),
    });
    try {
      await subscription.begin(connection);
    } catch (error) {
      await subscription.close();
      throw requestError(error, queue, `consuming queue '${queue}'`);
    }
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /** What a consumer needs is there when this resolves: nothing is declared later, least of all by a retry. */
  async #ensure(connection: AmqpConnection, queue: string, wanted: QueueWanted): Promise<void> {
    const { provision, queueType, settleTimeMs } = this.#settings;
    const main = mainQueue(queue, queueType, wanted.deadLetter);
    const missing = await missingOf(this.#system, connection, [main, ...helpersOf(queue, wanted)]);
    if (missing.includes(main) && provision !== 'all') throw missingQueue(queue);
    if (missing.length > 0 && provision === 'never') {
      const names = missing.map(({ name }) => `'${name}'`).join(', ');
      throw new LazaretError('LZ1302', `Queue '${queue}' is there, but what belongs to it is missing: ${names}.`, {
        hint: "Provision it, or leave out provision: 'never'.",
      });
    }
    await create(this.#system, connection, missing, settleTimeMs);
    this.#know(queue, wanted);
  }

  #know(queue: string, { deadLetter, retryDelaysMs }: QueueWanted): void {
    this.#tiers.set(queue, tiersOf(queue, retryDelaysMs));
    this.#deadLetters.set(queue, deadLetterQueue(queue, deadLetter));
  }

  #refuseForeignOptions({ group, order }: SubscribeOptions): void {
    if (group !== undefined) {
      throw new LazaretError('LZ1004', `A queue of RabbitMQ has no consumer groups, but '${group}' was asked for.`, {
        hint: 'Leave the group out; to let two services see every message, bind a queue of each to one exchange.',
      });
    }
    if (order === 'key') {
      throw new LazaretError('LZ1051', 'RabbitMQ cannot keep the messages of a key in order over a failure.', {
        hint: "Drop ordering: 'key', or use what keeps order: SQLite, PostgreSQL, a Kafka partition, an SQS FIFO queue.",
      });
    }
  }

  async capabilities(_queue: string): Promise<Capabilities> {
    this.#checkOpen();
    return this.#capabilities();
  }

  #capabilities(): Capabilities {
    return capabilitiesOf(this.#settings.queueType, this.#settings.consumerTimeoutMs);
  }

  // --- publishing -------------------------------------------------------------------------------------------------------

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    { delayMs = 0 }: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    this.#checkOpen();
    if (messages.length === 0) return [];
    const { exchange, routingKey } = typeof to === 'string' ? { exchange: '', routingKey: to } : to;
    if (delayMs > 0) return this.#publishLater(exchange, routingKey, messages, delayMs);
    return this.#publish(exchange, routingKey, messages);
  }

  async #publish(
    exchange: string,
    routingKey: string,
    messages: readonly OutgoingMessage[],
  ): Promise<readonly PublishResult[]> {
    const results = new Array<PublishResult>(messages.length);
    const parcels: { readonly index: number; readonly parcel: Parcel }[] = [];
    const now = this.#system.now();
    for (const [index, message] of messages.entries()) {
      try {
        const properties = publishedProperties(message, now);
        parcels.push({ index, parcel: parcelTo(exchange, routingKey, properties, message.body) });
      } catch (error) {
        results[index] = error as Error;
      }
    }
    const sent = (await this.#hasExchange(exchange))
      ? await this.#sendSoon(parcels.map(({ parcel }) => parcel))
      : parcels.map((): Sent => 'unroutable');
    for (const [at, { index }] of parcels.entries()) {
      const result = sent[at]!;
      results[index] = result === 'unsent' ? this.#notSent() : result;
    }
    return results;
  }

  /** What could not be written, or was not looked at, is sent again while there is time. */
  async #sendSoon(parcels: readonly Parcel[]): Promise<readonly Sent[]> {
    const endAt = this.#system.monotonic() + this.#settings.confirmTimeoutMs;
    const results = [...(await this.#callers.send(parcels))];
    for (;;) {
      const unsent = parcels.flatMap((_, index) => (results[index] === 'unsent' ? [index] : []));
      if (unsent.length === 0 || !(await this.#callers.ready(endAt - this.#system.monotonic()))) return results;
      this.#checkOpen();
      const sent = await this.#callers.send(unsent.map((index) => parcels[index]!));
      for (const [at, index] of unsent.entries()) results[index] = sent[at]!;
    }
  }

  #notSent(): LazaretError {
    const { host, port } = this.#settings.place;
    const why = this.#outgoing.connection === undefined ? 'is not connected' : 'has an alarm and takes nothing';
    return new LazaretError('LZ1130', `The message was not sent: RabbitMQ at ${host}:${port} ${why}.`, {
      hint: 'Send it again later.',
      cause: this.#outgoing.trouble,
    });
  }

  /** Through a tier of the queue. Whose tiers are not known here may have one of just this length; there is always the shortest. */
  async #publishLater(
    exchange: string,
    queue: string,
    messages: readonly OutgoingMessage[],
    delayMs: number,
  ): Promise<readonly PublishResult[]> {
    if (exchange !== '') return messages.map(() => undelayed(exchange));
    const known = this.#tiers.get(queue);
    if (known !== undefined) {
      return this.#publishInto(stayFor(known, delayMs, this.#system.random()), queue, messages, delayMs);
    }
    const exact: Stay = { tier: { delayMs, name: tierName(queue, delayMs) }, restMs: 0 };
    const results = await this.#publishInto(exact, queue, messages, delayMs);
    if (!results.includes('unroutable')) return results;
    const stay = stayFor(tiersOf(queue), delayMs, this.#system.random());
    const again = messages.filter((_, i) => results[i] === 'unroutable');
    const later = [...(await this.#publishInto(stay, queue, again, delayMs))];
    return results.map((result) => (result === 'unroutable' ? later.shift()! : result));
  }

  #publishInto(
    { tier, restMs }: Stay,
    queue: string,
    messages: readonly OutgoingMessage[],
    delayMs: number,
  ): Promise<readonly PublishResult[]> {
    const dueAt = String(this.#system.now() + delayMs);
    const staged = messages.map((message) => ({
      ...message,
      headers: withHeader(message.headers ?? [], HEADER.notBefore, dueAt),
    }));
    return this.#publish('', tier?.name ?? queue, restMs > 0 ? staged : messages);
  }

  async #hasExchange(exchange: string): Promise<boolean> {
    if (exchange === '' || this.#exchanges.has(exchange)) return true;
    const connection = await this.#reading();
    try {
      await onChannel(this.#system, connection, (channel) => channel.checkExchange(exchange));
    } catch (error) {
      if (codeOf(error) === 404) return false;
      throw requestError(error, exchange, `looking at exchange '${exchange}'`);
    }
    this.#exchanges.add(exchange);
    return true;
  }

  // --- looking ----------------------------------------------------------------------------------------------------------

  /** What is handed out, and how old anything is, AMQP does not tell. */
  async inspect(queue: string): Promise<QueueFacts> {
    this.#checkOpen();
    await this.#reading();
    const ready = await this.#depth(queue);
    if (ready === undefined) throw missingQueue(queue);
    const dead = await this.#depth(this.#deadLetters.get(queue) ?? deadLetterQueue(queue));
    const tiers = await Promise.all((this.#tiers.get(queue) ?? []).map(({ name }) => this.#depth(name)));
    const delayed = tiers.length === 0 || tiers.includes(undefined) ? undefined : sum(tiers as readonly number[]);
    return {
      ready,
      ...(dead === undefined ? {} : { dead }),
      ...(delayed === undefined ? {} : { delayed }),
    };
  }

  async #depth(queue: string): Promise<number | undefined> {
    const { connection } = this.#intake;
    if (connection === undefined) return undefined;
    try {
      return (await onChannel(this.#system, connection, (channel) => channel.checkQueue(queue))).messageCount;
    } catch (error) {
      if (codeOf(error) === 404) return undefined;
      throw requestError(error, queue, `looking at queue '${queue}'`);
    }
  }

  async provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    this.#checkOpen();
    checkName(queue);
    const { queueType, settleTimeMs } = this.#settings;
    const declared = [mainQueue(queue, queueType, wanted.deadLetter), ...helpersOf(queue, wanted)];
    const found = await survey(this.#system, await this.#reading(), declared);
    return planOf(found, wanted, async () => {
      await create(this.#system, await this.#reading(), found.missing, settleTimeMs);
      this.#know(queue, wanted);
    });
  }

  // --- the end ----------------------------------------------------------------------------------------------------------

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callers.end();
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    await Promise.all([this.#intake.close(), this.#outgoing.close()]);
  }

  /** The connection that consumes; opened when it is first needed. */
  async #reading(): Promise<AmqpConnection> {
    await this.#intake.open();
    const connection = await this.#intake.connected(ANSWER_WITHIN_MS);
    this.#checkOpen();
    if (connection !== undefined) return connection;
    const { host, port } = this.#settings.place;
    throw new LazaretError('LZ1130', `RabbitMQ at ${host}:${port} is not connected.`, {
      hint: 'Try again later.',
      cause: this.#intake.trouble,
    });
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError('connection to RabbitMQ');
  }
}

function undelayed(exchange: string): LazaretError {
  return new LazaretError('LZ1004', `A message cannot be published to exchange '${exchange}' with a delay.`, {
    hint: 'Publish it to its queue, or leave the delay out.',
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
