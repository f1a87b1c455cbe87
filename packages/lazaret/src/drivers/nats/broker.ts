import { LazaretError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { within } from '../../core/within.ts';
import type {
  Address,
  Broker,
  OutgoingMessage,
  Page,
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
import { listenForAdvisories } from './advisories.ts';
import { messageOf } from './arrival.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { StoredMsg } from './client.ts';
import type { Line } from './dial.ts';
import type { NatsSettings } from './options.ts';
import { type Parcel, publishedParcel } from './outgoing.ts';
import { helperSteps, planFor } from './provision.ts';
import { publishAll } from './publisher.ts';
import { Questions } from './questions.ts';
import { closedError, missingQueue, requestError, unanswered, unfit } from './refusals.ts';
import { NatsSubscription } from './subscription.ts';
import {
  checkName,
  consumerOf,
  inFlightLimitOf,
  leaseOf,
  locate,
  mostOf,
  type Place,
  streamOf,
  unfitness,
} from './topology.ts';

/** The server's own default, for the moment in which it has not said. */
const USUAL_PAYLOAD_BYTES = 1024 * 1024;
const CLOSE_WITHIN_MS = 2_000;

export class NatsBroker implements Broker {
  readonly name: string = 'nats';
  readonly #system: System;
  readonly #settings: NatsSettings;
  readonly #line: Line;
  readonly #questions: Questions;
  readonly #inbox: string;
  readonly #subscriptions = new Set<NatsSubscription>();
  /** Names that queues were subscribed with, for what is asked about them later. */
  readonly #deadLetters = new Map<string, string>();
  readonly #groups = new Map<string, string>();
  #inboxes = 0;
  #isClosed = false;

  constructor(system: System, settings: NatsSettings, line: Line) {
    this.#system = system;
    this.#settings = settings;
    this.#line = line;
    const { inboxPrefix = '_INBOX' } = settings.client as { readonly inboxPrefix?: string };
    this.#inbox = `${inboxPrefix}.${system.id()}`;
    this.#questions = new Questions(line.connection, system, this.#newInbox(), settings.answerTimeoutMs);
    void this.#follow();
  }

  readonly #newInbox = (): string => `${this.#inbox}.${(this.#inboxes++).toString(36)}`;
  readonly #mostBytes = (): number => this.#line.connection.info?.max_payload ?? USUAL_PAYLOAD_BYTES;

  /** What happens to the connection, until it is closed. */
  async #follow(): Promise<void> {
    for await (const { type } of this.#line.connection.status()) {
      if (type === 'disconnect') {
        this.#questions.forget();
        const why = new LazaretError('LZ1130', `NATS at ${this.#settings.servers.join(', ')} is not connected.`, {
          hint: 'It is tried again.',
        });
        for (const subscription of this.#subscriptions) subscription.down(why);
      } else if (type === 'reconnect') for (const subscription of this.#subscriptions) subscription.up();
    }
  }

  // --- consuming --------------------------------------------------------------------------------------------------------

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    this.#checkOpen();
    const { manager, connection } = this.#line;
    const system = this.#system;
    if (options.deadLetter !== undefined) this.#deadLetters.set(queue, options.deadLetter);
    if (options.group !== undefined) this.#groups.set(queue, options.group);
    const place = await this.#prepared(queue);
    const consumer = await consumerOf(manager, place);
    if (consumer === undefined) throw missingQueue(`${place.stream}/${place.consumer}`);
    const problem = unfitness(consumer);
    if (problem !== undefined) {
      throw unfit(`Consumer '${place.consumer}' of stream '${place.stream}' does not fit: ${problem}`, 'Name another.');
    }
    const subscription = new NatsSubscription({
      system,
      connection,
      questions: this.#questions,
      place,
      options,
      capabilities: capabilitiesOf(inFlightLimitOf(consumer)),
      leaseMs: leaseOf(consumer),
      most: mostOf(consumer),
      answerTimeoutMs: this.#settings.answerTimeoutMs,
      newInbox: this.#newInbox,
      mostBytes: this.#mostBytes,
      closed: (closed) => {
        this.#subscriptions.delete(closed);
        for (const inbox of advisories) if (!connection.isClosed()) inbox.unsubscribe();
      },
    });
    const advisories = listenForAdvisories({
      system,
      connection,
      manager,
      questions: this.#questions,
      place,
      mostBytes: this.#mostBytes,
    });
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /** Everything that `provision` allows is there afterwards; what is missing all the same, or differs, is one error. */
  async #prepared(queue: string): Promise<Place> {
    const { manager } = this.#line;
    const names = { group: this.#groups.get(queue), deadLetter: this.#deadLetters.get(queue) };
    if (this.#settings.provision === 'all' && (await locate(manager, queue, names)) === undefined) {
      await (await planFor(manager, this.#settings, queue, this.#wanted(queue))).apply();
    }
    const place = await locate(manager, queue, names);
    if (place === undefined) throw missingQueue(queue);
    if (this.#settings.provision === 'never') {
      if ((await streamOf(manager, place.letters)) === undefined) throw missingQueue(place.letters);
      return place;
    }
    for (const { step, effect } of await helperSteps(manager, this.#settings, place)) {
      // n.b. a consumer that leases longer or shorter is consumed as it is; what would deliver letters again is not.
      if (step.action === 'conflict' && step.what.startsWith('subject')) {
        throw unfit(`Queue '${queue}' cannot be consumed: of ${step.what}, ${step.why}`, 'Give another deadLetter.');
      }
      await effect?.().catch((error: unknown) => {
        throw requestError(error, `creating ${step.what}`);
      });
    }
    return place;
  }

  #wanted(queue: string): QueueWanted & { readonly group?: string | undefined } {
    const deadLetter = this.#deadLetters.get(queue);
    return { group: this.#groups.get(queue), ...(deadLetter === undefined ? {} : { deadLetter }) };
  }

  async capabilities(queue: string): Promise<Capabilities> {
    this.#checkOpen();
    const place = await this.#located(queue);
    const consumer = await consumerOf(this.#line.manager, place);
    return capabilitiesOf(consumer === undefined ? undefined : inFlightLimitOf(consumer));
  }

  // --- publishing -------------------------------------------------------------------------------------------------------

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    this.#checkOpen();
    if ((options.delayMs ?? 0) > 0) throw undelayed();
    const subject = await this.#subjectOf(to);
    const results = new Array<PublishResult>(messages.length);
    const parcels: Parcel[] = [];
    const places: number[] = [];
    const mostBytes = this.#mostBytes();
    for (const [i, message] of messages.entries()) {
      try {
        parcels.push(publishedParcel(subject, message, mostBytes));
        places.push(i);
      } catch (error) {
        results[i] = error as Error;
      }
    }
    const published = parcels.length === 0 ? [] : await publishAll(this.#questions, parcels);
    for (const [at, result] of published.entries()) results[places[at]!] = result;
    return results;
  }

  async #subjectOf(to: Address): Promise<string> {
    if (typeof to !== 'string') {
      if (to.exchange === '') return this.#subjectOf(to.routingKey);
      throw new LazaretError('LZ1004', `NATS has no exchanges, so nothing can be published to '${to.exchange}'.`, {
        hint: 'Publish to a queue.',
      });
    }
    checkName(to);
    if (!to.includes('/')) return to;
    const { subject } = await this.#located(to);
    if (subject !== undefined) return subject;
    throw new LazaretError('LZ1004', `The stream of queue '${to}' takes several subjects.`, {
      hint: 'Publish to one of them.',
    });
  }

  // --- looking ----------------------------------------------------------------------------------------------------------

  /** n.b. what was given back waits among what is leased, so counts are estimates once something was delivered twice. */
  async inspect(queue: string): Promise<QueueFacts> {
    this.#checkOpen();
    const { manager } = this.#line;
    const place = await this.#located(queue);
    const consumer = await consumerOf(manager, place);
    const letters = await streamOf(manager, place.letters);
    const dead = letters === undefined ? undefined : await this.#messagesIn(letters);
    return {
      ...(consumer === undefined ? {} : { ready: consumer.num_pending, leased: consumer.num_ack_pending }),
      ...(dead === undefined ? {} : { dead }),
      ...((consumer?.num_redelivered ?? 0) > 0 ? { approximate: true } : {}),
    };
  }

  async #messagesIn(stream: string): Promise<number> {
    try {
      return (await this.#line.manager.streams.info(stream)).state.messages;
    } catch (error) {
      throw requestError(error, `looking at stream '${stream}'`);
    }
  }

  /** In the order of the stream; what was acknowledged is there too where the stream keeps it. */
  async browse(queue: string, from: string | undefined, max: number): Promise<Page<Message>> {
    this.#checkOpen();
    const { stream, subject } = await this.#located(queue);
    const items: Message[] = [];
    let sequence = Number(from ?? 1) || 1;
    for (;;) {
      const found = await this.#nextFrom(stream, sequence, subject ?? '>');
      if (found === null) return { items };
      if (items.length >= max) return { items, next: String(found.seq) };
      items.push(messageOf({ data: found.data, headers: found.header }, `${stream}:${found.seq}`));
      sequence = found.seq + 1;
    }
  }

  async #nextFrom(stream: string, seq: number, subject: string): Promise<StoredMsg | null> {
    try {
      return await this.#line.manager.streams.getMessage(stream, { seq, next_by_subj: subject });
    } catch (error) {
      throw requestError(error, `looking into stream '${stream}'`);
    }
  }

  async provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    this.#checkOpen();
    if (wanted.deadLetter !== undefined) this.#deadLetters.set(queue, wanted.deadLetter);
    return planFor(this.#line.manager, this.#settings, queue, { ...wanted, group: this.#groups.get(queue) });
  }

  async #located(queue: string): Promise<Place> {
    const place = await locate(this.#line.manager, queue, {
      group: this.#groups.get(queue),
      deadLetter: this.#deadLetters.get(queue),
    });
    if (place === undefined) throw missingQueue(queue);
    return place;
  }

  // --- the end ----------------------------------------------------------------------------------------------------------

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    const { connection } = this.#line;
    if (connection.isClosed()) return;
    const late = () => unanswered('the end of the connection');
    await within(this.#system, CLOSE_WITHIN_MS, connection.close(), late).catch(() => undefined);
    this.#questions.forget();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError('connection to NATS');
  }
}

function undelayed(): LazaretError {
  return new LazaretError('LZ1004', 'A message cannot be published to NATS with a delay.', {
    hint: 'Leave the delay out.',
  });
}
