import { Pulls } from '../../core/pulls.ts';
import { within } from '../../core/within.ts';
import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { System } from '../../ports/system.ts';
import type { AmqpConnection } from './amqplib.ts';
import { type Arrival, type HandOut, toDelivery } from './arrival.ts';
import { Consumer } from './consumer.ts';
import { type Copied, type Copy, sendCopies } from './copier.ts';
import { LaneWatch } from './lane-watch.ts';
import type { Link } from './link.ts';
import type { Outlet } from './outlet.ts';
import { closedError, requestError } from './refusals.ts';
import { type Places, replacementFor, suspectFor } from './replacement.ts';
import type { Tier } from './tiers.ts';
import { deadLetterQueue, laneOf } from './topology.ts';
import type { Habits } from './versions.ts';

/** What a subscription needs of its broker. */
export interface Parts {
  readonly system: System;
  readonly intake: Link;
  readonly outlet: Outlet;
  readonly queue: string;
  readonly options: SubscribeOptions;
  readonly capabilities: Capabilities;
  readonly tiers: readonly Tier[];
  readonly habits: () => Habits;
  readonly consumerTimeoutMs: number;
  /** How many wait in a queue; `undefined` while nobody can be asked. */
  readonly depth: (queue: string) => Promise<number | undefined>;
  readonly closed: (subscription: RabbitSubscription) => void;
}

const NOTHING: readonly never[] = Object.freeze([]);
/** An outage that lasts longer is told to whoever pulls. */
const PATIENCE_MS = 5_000;
const CANCEL_WITHIN_MS = 2_000;

/** Of one arrival: where its copy goes, until then. */
interface Copying {
  readonly index: number;
  readonly arrival: Arrival;
  readonly copy: Copy;
}

export class RabbitSubscription implements Subscription {
  readonly capabilities: Capabilities;
  readonly #parts: Parts;
  readonly #consumer: Consumer;
  readonly #pulls: Pulls<Delivery>;
  readonly #lane: LaneWatch;
  readonly #common: HandOut;
  readonly #places: Places;
  readonly #handedOut = new Set<Arrival>();
  #buffer: Arrival[] = [];
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { system, intake, queue, options } = parts;
    this.#parts = parts;
    this.capabilities = parts.capabilities;
    this.#common = {
      source: { queue },
      maxAttempts: options.maxAttempts,
      consumerTimeoutMs: parts.consumerTimeoutMs,
    };
    this.#places = {
      queue,
      letters: deadLetterQueue(queue, options.deadLetter),
      lane: laneOf(queue),
      tiers: parts.tiers,
    };
    this.#pulls = new Pulls(system, (max) => this.#take(max));
    this.#lane = new LaneWatch(
      system,
      () => parts.depth(this.#places.lane),
      (waiting) => options.suspects(waiting),
    );
    this.#consumer = new Consumer(system, intake, queue, options.prefetch, {
      arrive: (arrival) => this.#arrive(arrival),
      gone: () => this.#gone(),
    });
  }

  async begin(connection: AmqpConnection): Promise<void> {
    await this.#consumer.begin(connection);
    this.#lane.look();
  }

  // --- handing out ------------------------------------------------------------------------------------------------------

  pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#closing !== undefined) return this.#refuse();
    if (signal.aborted || max <= 0) return Promise.resolve(NOTHING);
    const taken = this.#take(max);
    return taken.length > 0 ? Promise.resolve(taken) : this.#wait(max, signal);
  }

  async #wait(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const brought = await this.#pulls.wait(max, this.#parts.options.waitMs, signal);
    if (brought.length === 0 && this.#closing === undefined) this.#tellTrouble();
    return brought;
  }

  #tellTrouble(): void {
    const { intake, queue } = this.#parts;
    const trouble = intake.awayMs > PATIENCE_MS ? intake.trouble : this.#consumer.takeTrouble();
    if (trouble !== undefined) throw requestError(trouble, queue, `consuming queue '${queue}'`);
  }

  async alone(signal: AbortSignal): Promise<Delivery | undefined> {
    if (this.#closing !== undefined) return this.#refuse();
    if (signal.aborted) return undefined;
    const arrival = await this.#consumer.fetch(this.#places.lane);
    this.#lane.look();
    if (arrival === undefined) return undefined;
    const { system } = this.#parts;
    return this.#handOut(arrival, system.now(), system.monotonic());
  }

  #arrive(arrival: Arrival): void {
    if (arrival.isSuspect) {
      void this.#setAside(arrival);
      return;
    }
    this.#buffer.push(arrival);
    this.#pulls.wake();
  }

  /** What waited here for half of the server's patience is given back: whoever took it now might not come to its end. */
  #take(max: number): readonly Delivery[] {
    if (this.#buffer.length === 0) return NOTHING;
    const now = this.#parts.system.now();
    const monotonic = this.#parts.system.monotonic();
    this.#giveBackOlderThan(monotonic - this.#parts.consumerTimeoutMs / 2);
    const taken = this.#buffer.splice(0, max);
    const deliveries = new Array<Delivery>(taken.length);
    for (let i = 0; i < taken.length; i++) deliveries[i] = this.#handOut(taken[i]!, now, monotonic);
    return deliveries;
  }

  /** The oldest comes first. */
  #giveBackOlderThan(oldest: number): void {
    let stale = 0;
    while (stale < this.#buffer.length && this.#buffer[stale]!.at < oldest) stale++;
    if (stale > 0) this.#giveBack(this.#buffer.splice(0, stale));
  }

  #handOut(arrival: Arrival, now: number, monotonic: number): Delivery {
    const delivery = toDelivery(arrival, this.#common, now, monotonic - arrival.at);
    arrival.state = 'out';
    arrival.delivery = delivery;
    this.#handedOut.add(arrival);
    return delivery;
  }

  /** Into the lane, where nobody else is near when it runs. Where that cannot be, it runs like others. */
  async #setAside(arrival: Arrival): Promise<void> {
    arrival.state = 'settling';
    const copied = await this.#copyToLane(arrival).catch((error: Error) => error);
    if (copied === 'done') {
      this.#ack([arrival]);
      this.#lane.look();
    } else if (arrival.isOurs) {
      arrival.state = 'buffered';
      this.#buffer.push(arrival);
      this.#pulls.wake();
    }
  }

  async #copyToLane(arrival: Arrival): Promise<Copied> {
    const { system, outlet } = this.#parts;
    const delivery = toDelivery(arrival, this.#common, system.now(), 0);
    const parcel = suspectFor(arrival, delivery, this.#places, system);
    const [copied] = await sendCopies(system, outlet, [{ parcel, isWanted: () => arrival.isOurs }]);
    return copied!;
  }

  /** Buffered ones were in nobody's hands. */
  #gone(): void {
    const lost = [...this.#handedOut];
    this.#handedOut.clear();
    this.#buffer = [];
    for (const arrival of lost) arrival.state = 'closed';
    if (lost.length > 0 && this.#closing === undefined) {
      this.#parts.options.lost(lost.map(({ delivery }) => delivery!));
    }
  }

  // --- settling ---------------------------------------------------------------------------------------------------------

  settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    if (this.#closing !== undefined) return this.#refuse();
    const { system } = this.#parts;
    const results = new Array<SettleResult>(batch.length);
    const acked: Arrival[] = [];
    const returned: Arrival[] = [];
    const copying: Copying[] = [];
    for (let index = 0; index < batch.length; index++) {
      const settlement = batch[index]!;
      const arrival = settlement.delivery.receipt as Arrival;
      if (arrival.state !== 'out' || !arrival.isOurs) {
        results[index] = 'lost';
        continue;
      }
      results[index] = 'done';
      if (settlement.verb === 'hold') continue;
      if (settlement.verb === 'ack') acked.push(arrival);
      else if (settlement.verb === 'release' && this.#canRequeue(arrival, settlement)) returned.push(arrival);
      else {
        try {
          const parcel = replacementFor(arrival, settlement, this.#places, system);
          copying.push({ index, arrival, copy: { parcel, isWanted: () => arrival.isOurs } });
        } catch (error) {
          results[index] = error as Error;
          continue;
        }
      }
      arrival.state = 'settling';
    }
    this.#ack(acked);
    this.#giveBack(returned);
    return copying.length === 0 ? Promise.resolve(results) : this.#copyThenAck(copying, results);
  }

  async #copyThenAck(copying: readonly Copying[], results: SettleResult[]): Promise<readonly SettleResult[]> {
    const { system, outlet } = this.#parts;
    const copied = await sendCopies(
      system,
      outlet,
      copying.map(({ copy }) => copy),
    );
    const acked: Arrival[] = [];
    for (const [at, { index, arrival }] of copying.entries()) {
      results[index] = resultOf(copied[at]!, arrival);
      if (results[index] === 'done') acked.push(arrival);
      else if (arrival.isOurs) arrival.state = 'out';
    }
    this.#ack(acked);
    return results;
  }

  /** A return that nobody counts, or the first one: what makes a suspect goes as a copy. Nothing can be written to what is given back so. */
  #canRequeue(
    { isAlone, returns }: Arrival,
    { delayMs, notBefore }: { readonly delayMs: number; readonly notBefore?: number },
  ): boolean {
    if (delayMs > 0 || notBefore !== undefined || this.capabilities.crashEvidence === 'flag') return false;
    return this.#parts.habits().requeueIsFree || (!isAlone && returns.failed === 0);
  }

  #ack(arrivals: readonly Arrival[]): void {
    const tags = this.#close(arrivals);
    this.#consumer.ack(tags);
  }

  #giveBack(arrivals: readonly Arrival[]): void {
    const tags = this.#close(arrivals);
    this.#consumer.requeue(tags);
  }

  #close(arrivals: readonly Arrival[]): readonly number[] {
    const tags: number[] = [];
    for (const arrival of arrivals) {
      if (!arrival.isOurs) continue;
      arrival.state = 'closed';
      this.#handedOut.delete(arrival);
      tags.push(arrival.tag);
    }
    return tags;
  }

  extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    if (this.#closing !== undefined) return this.#refuse();
    return Promise.resolve(
      batch.map(({ delivery }): SettleResult => ((delivery.receipt as Arrival).isOurs ? 'done' : 'lost')),
    );
  }

  // --- the end ----------------------------------------------------------------------------------------------------------

  async credit(n: number): Promise<void> {
    if (this.#closing !== undefined) return this.#refuse();
    await this.#consumer.credit(n);
    if (n === 0) this.#giveBack(this.#buffer.splice(0));
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  async #leave(): Promise<void> {
    this.#lane.stop();
    this.#pulls.end();
    const cancelling = this.#consumer.credit(0);
    await within(this.#parts.system, CANCEL_WITHIN_MS, cancelling, () => new Error('no answer')).catch(() => undefined);
    this.#giveBack(this.#buffer.splice(0));
    await this.#consumer.end();
    this.#handedOut.clear();
    this.#parts.closed(this);
  }

  #refuse(): Promise<never> {
    return Promise.reject(closedError(`consumer of queue '${this.#parts.queue}'`));
  }
}

function resultOf(copied: Copied, arrival: Arrival): SettleResult {
  if (copied instanceof Error) return arrival.isOurs ? copied : 'lost';
  // n.b. a copy is there, and its original came back to others: one of the two is too many, and only its id can tell.
  return arrival.isOurs && copied === 'done' ? 'done' : 'lost';
}
