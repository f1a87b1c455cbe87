import { KeyLanes } from '../../../core/key-lanes.ts';
import type { Message } from '../../../core/message.ts';
import type { Delivery, Extension, Settlement, SettleResult, SubscribeOptions } from '../../../ports/broker.ts';
import type { Cancel } from '../../../ports/system.ts';
import type { Client } from '../client.ts';
import { sendCopy } from '../copies.ts';
import { type ChannelOptions, RECONNECT_MS } from '../options.ts';
import type { World } from '../shape.ts';
import { handedCopy, letterCopy, pastOf, retryCopy } from '../stored.ts';
import type { Front, Service } from '../subscription.ts';
import { Channel } from './channel.ts';
import type { ChannelQueue, Entry } from './channel-queue.ts';

export interface ChannelServiceParts {
  readonly world: World;
  readonly client: Client;
  readonly queue: ChannelQueue;
  /** Where suspects wait to be fetched one by one. */
  readonly lane: ChannelQueue;
  readonly letters: ChannelQueue;
  readonly wanted: SubscribeOptions;
  readonly options: ChannelOptions;
}

/** Came back twice: it may have killed somebody, or merely have been near. Which of the two, only the lane can tell. */
const SUSPECT_RETURNS = 2;

interface Arrival {
  readonly tag: number;
  readonly entry: Entry;
  readonly arrivedAt: number;
  /** 0 outside the lane. */
  readonly strikes: number;
}

type GivenBack = Extract<Settlement, { readonly verb: 'retry' | 'release' }>;

interface ChannelReceipt {
  readonly generation: number;
  readonly tag: number;
}

/** Takes pushes into a buffer and hands them out from there; what belongs to an earlier channel is refused here, before the server could. */
export class ChannelService implements Service {
  readonly #parts: ChannelServiceParts;
  readonly #front: Front;
  readonly #watchLane: (depth: number) => void;
  readonly #open = new Map<number, Arrival>();
  readonly #lanes = new KeyLanes<Arrival>((a, b) => a.entry.position - b.entry.position);
  #buffer: Arrival[] = [];
  #generation = 0;
  #credit: number;
  #channel: Channel;
  #reopening: Cancel | undefined;

  constructor(parts: ChannelServiceParts, front: Front) {
    this.#parts = parts;
    this.#front = front;
    this.#credit = parts.wanted.prefetch;
    this.#channel = this.#openChannel();
    this.#watchLane = (depth) => {
      front.suspects(depth);
      front.wake();
    };
    parts.lane.watchDepth(this.#watchLane);
  }

  // --- handing out ------------------------------------------------------------------------------------------------

  take(max: number): readonly Delivery[] {
    const taken: Arrival[] = [];
    const left: Arrival[] = [];
    for (const arrival of this.#buffer) (taken.length < max && this.#isFirst(arrival) ? taken : left).push(arrival);
    this.#buffer = left;
    return taken.map((arrival) => this.#handOut(arrival));
  }

  /** The next of the lane; what comes back to it has cost one more start. */
  alone(): Delivery | undefined {
    const { lane, queue, wanted, world } = this.#parts;
    // n.b. fetching from the lane is not single-active by itself, and its messages have successors in the queue.
    if (wanted.order === 'key' && !queue.isActive(this.#channel)) return undefined;
    if (!this.#channel.isOpen || this.#holdsKeyOf(lane.peek())) return undefined;
    const got = this.#channel.get(lane);
    if (got === undefined) return undefined;
    const { tag, entry } = got;
    const arrival = { tag, entry, arrivedAt: world.clock.now(), strikes: SUSPECT_RETURNS + entry.returns };
    this.#open.set(tag, arrival);
    return this.#handOut(arrival);
  }

  #isFirst(arrival: Arrival): boolean {
    const { key } = arrival.entry.message;
    if (this.#parts.wanted.order === 'none' || key === undefined) return true;
    return this.#lanes.isFirst(key, arrival) && !this.#isSuspected(key);
  }

  /** An earlier message of the key waits in the lane, or was fetched from it. */
  #isSuspected(key: string): boolean {
    return this.#parts.lane.holdsKey(key) || this.#hasFetched(key);
  }

  #hasFetched(key: string): boolean {
    for (const { strikes, entry } of this.#open.values()) if (strikes > 0 && entry.message.key === key) return true;
    return false;
  }

  #holdsKeyOf(entry: Entry | undefined): boolean {
    const key = entry?.message.key;
    return this.#parts.wanted.order === 'key' && key !== undefined && this.#hasFetched(key);
  }

  #handOut({ tag, entry, arrivedAt, strikes }: Arrival): Delivery {
    const { world, queue, letters, wanted, options } = this.#parts;
    const { message, sequence, publishedAt, returns } = entry;
    const now = world.clock.now();
    const past = pastOf(message.headers, publishedAt, wanted.maxAttempts, now);
    const receipt: ChannelReceipt = { generation: this.#generation, tag };
    const isBlocked = wanted.order === 'key' && message.key !== undefined && letters.holdsKey(message.key);
    return {
      message: handedCopy(message),
      source: { queue: queue.name, position: String(sequence) },
      receipt,
      attempt: past.attempt,
      strikes,
      deliveries: returns + 1,
      firstSeenAt: past.firstSeenAt,
      ...(past.notBefore === undefined ? {} : { notBefore: past.notBefore }),
      ...(options.consumerTimeoutMs === undefined
        ? {}
        : { leaseMs: Math.max(0, options.consumerTimeoutMs - (now - arrivedAt)) }),
      ...(isBlocked ? { blocked: true } : {}),
    };
  }

  // --- settling ---------------------------------------------------------------------------------------------------

  settle(settlement: Settlement): SettleResult | Promise<SettleResult> {
    const { delivery } = settlement;
    const arrival = this.#ours(delivery);
    if (arrival === undefined) return 'lost';
    switch (settlement.verb) {
      case 'ack':
        return this.#ack(delivery);
      case 'retry':
        return this.#copyThenAck(delivery, this.#parts.queue, this.#copyOf(settlement, 1), settlement.delayMs);
      case 'release':
        return this.#release(arrival, settlement);
      case 'hold':
        return 'done';
      case 'deadLetter': {
        const letter = letterCopy(delivery, settlement.evidence, this.#idOf(delivery));
        return this.#copyThenAck(delivery, this.#parts.letters, letter, 0);
      }
    }
  }

  extend({ delivery }: Extension): SettleResult {
    return this.#ours(delivery) === undefined ? 'lost' : 'done';
  }

  #ours({ receipt }: Delivery): Arrival | undefined {
    const { generation, tag } = receipt as ChannelReceipt;
    return generation === this.#generation ? this.#open.get(tag) : undefined;
  }

  #copyOf({ delivery, notBefore }: GivenBack, charge: 0 | 1): Message {
    const { attempt, firstSeenAt } = delivery;
    return retryCopy(delivery, this.#idOf(delivery), { attempt: attempt + charge, firstSeenAt, notBefore });
  }

  /** The first copy of ours gives an id where there was none. */
  #idOf({ message }: Delivery): string {
    return message.id ?? this.#parts.world.system.id();
  }

  async #copyThenAck(
    delivery: Delivery,
    to: ChannelQueue,
    copy: Message,
    delayMs: number,
    insteadOf?: Entry,
  ): Promise<SettleResult> {
    const { world, client } = this.#parts;
    const copied = await sendCopy(world, client, () => to.publish(copy, delayMs, insteadOf));
    return copied === 'done' ? this.#ack(delivery) : copied;
  }

  #ack(delivery: Delivery): SettleResult {
    const arrival = this.#ours(delivery);
    if (arrival === undefined) return 'lost';
    this.#close(arrival);
    this.#channel.ack(arrival.tag);
    return 'done';
  }

  /** n.b. what comes back to the lane is counted as a crash, so what is given back to it goes as a copy. */
  #release({ strikes, entry }: Arrival, settlement: GivenBack): SettleResult | Promise<SettleResult> {
    const { delivery, delayMs } = settlement;
    const { queue, lane } = this.#parts;
    if (strikes === 0) {
      if (this.#canRequeue(settlement)) return this.#requeue(delivery, delayMs);
      return this.#copyThenAck(delivery, queue, this.#copyOf(settlement, 0), delayMs);
    }
    return this.#copyThenAck(delivery, lane, this.#copyOf(settlement, 0), delayMs, entry);
  }

  /** Nothing can be written to what is requeued, and without a delay of its own it comes back at once. */
  #canRequeue({ delayMs, notBefore }: GivenBack): boolean {
    return notBefore === undefined && (delayMs === 0 || this.#parts.options.release === 'counted');
  }

  /** The server cannot tell it from a crash, so it counts. */
  #requeue(delivery: Delivery, delayMs: number): SettleResult {
    const arrival = this.#ours(delivery)!;
    // n.b. closed afterwards: whoever is behind it would be taken before it is back.
    this.#channel.requeue([arrival.tag], delayMs);
    this.#close(arrival);
    return 'done';
  }

  #close(arrival: Arrival): void {
    this.#open.delete(arrival.tag);
    const next = this.#lanes.leave(arrival.entry.message.key, arrival);
    if (next !== undefined || arrival.strikes > 0) this.#front.wake();
  }

  // --- what the server sends --------------------------------------------------------------------------------------

  #receive(tag: number, entry: Entry): void {
    const arrival = { tag, entry, arrivedAt: this.#parts.world.clock.now(), strikes: 0 };
    if (entry.returns >= SUSPECT_RETURNS) {
      this.#moveToLane(arrival);
      return;
    }
    this.#open.set(tag, arrival);
    this.#lanes.enter(entry.message.key, arrival);
    this.#buffer.push(arrival);
    this.#front.wake();
  }

  /** Out of everybody's buffer, else it would be counted with each of them that dies. */
  #moveToLane(arrival: Arrival): void {
    const { world, lane, wanted } = this.#parts;
    const suspect = this.#handOut(arrival);
    const past = pastOf(suspect.message.headers, suspect.firstSeenAt, wanted.maxAttempts, world.clock.now());
    lane.publish(retryCopy(suspect, this.#idOf(suspect), past), 0);
    this.#channel.ack(arrival.tag);
  }

  // --- the channel's life -----------------------------------------------------------------------------------------

  /** n.b. a smaller credit holds for what comes; what is buffered stays. */
  credit(n: number): void {
    this.#credit = n;
    this.#channel.prefetch = n;
    if (n > 0) {
      this.#parts.queue.push();
      return;
    }
    const unused = this.#buffer;
    this.#buffer = [];
    for (const arrival of unused) this.#close(arrival);
    this.#channel.requeue(unused.map(({ tag }) => tag));
  }

  #openChannel(): Channel {
    const { world, queue, options } = this.#parts;
    this.#generation++;
    const channel = new Channel({
      clock: world.clock,
      prefetch: this.#credit,
      timeoutMs: options.consumerTimeoutMs ?? Number.POSITIVE_INFINITY,
      receive: (tag, entry) => this.#receive(tag, entry),
      closed: () => this.#closedByServer(),
    });
    this.#channel = channel;
    queue.consume(channel);
    return channel;
  }

  #closedByServer(): void {
    const { world, options } = this.#parts;
    this.cut();
    this.#reopening = world.system.after(options.reconnectMs ?? RECONNECT_MS, () => this.#openChannel());
  }

  cut(): void {
    this.#closeChannel();
    this.#front.loseAll();
  }

  restored(): void {
    this.#openChannel();
  }

  died(): void {
    this.leave();
  }

  /** n.b. closing gives everything back in order at once; a cancel would let the next consumer overtake what is still in hand. */
  leave(): void {
    this.#parts.lane.unwatchDepth(this.#watchLane);
    this.#closeChannel();
  }

  #closeChannel(): void {
    this.#reopening?.();
    this.#generation++;
    this.#open.clear();
    this.#lanes.clear();
    this.#buffer = [];
    this.#parts.queue.cancel(this.#channel);
    this.#channel.close();
    this.#parts.queue.push();
  }
}
