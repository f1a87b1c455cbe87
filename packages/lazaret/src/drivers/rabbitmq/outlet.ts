import { LazaretError } from '../../core/errors.ts';
import type { PublishResult } from '../../ports/broker.ts';
import type { Cancel, System } from '../../ports/system.ts';
import type { AmqpConnection, AmqpMessage, Confirm } from './amqplib.ts';
import { openChannel } from './channel.ts';
import type { Link, LinkUser } from './link.ts';
import { differenceIn } from './refusals.ts';
import { type Publication, publishFrames, roomForProperties } from './wire/frames.ts';
import { readProperties, textOf } from './wire/properties.ts';

/** One message on its way out. */
export interface Parcel extends Publication {
  /** The message-id among its properties: what comes back is recognised by it. */
  readonly messageId: string | undefined;
}

/** 'unsent': nothing of it was written, so it can be sent again without a second copy. */
export type Sent = PublishResult | 'unsent';

interface Batch {
  readonly results: Sent[];
  left: number;
  readonly done: (results: readonly Sent[]) => void;
}

interface Outstanding {
  readonly parcel: Parcel;
  readonly batch: Batch;
  readonly index: number;
  readonly since: number;
  isReturned: boolean;
}

interface Open {
  readonly connection: AmqpConnection;
  readonly number: number;
  readonly frameMax: number;
}

/**
 * Publishes on a channel of its own, mandatory and confirmed. What is returned is returned before its confirm. A confirm that does
 * not come in time ends the connection: what the server has not read by then it never will.
 */
export class Outlet implements LinkUser {
  readonly #system: System;
  readonly #link: Link;
  readonly #confirmTimeoutMs: number;
  /** By the number under which the server confirms; in the order in which they were sent. */
  readonly #outstanding = new Map<number, Outstanding>();
  readonly #waiting = new Set<() => void>();
  #open: Open | undefined;
  #sequence = 0;
  #isBlocked = false;
  #watch: Cancel | undefined;

  constructor(system: System, link: Link, confirmTimeoutMs: number) {
    this.#system = system;
    this.#link = link;
    this.#confirmTimeoutMs = confirmTimeoutMs;
    link.attach(this);
  }

  // --- the connection ---------------------------------------------------------------------------------------------------

  async up(connection: AmqpConnection): Promise<void> {
    this.#isBlocked = false;
    connection.on('blocked', () => {
      this.#isBlocked = true;
    });
    connection.on('unblocked', () => {
      this.#isBlocked = false;
      this.#wake();
    });
    await this.#openOn(connection);
  }

  async #openOn(connection: AmqpConnection): Promise<void> {
    const opened = await openChannel(this.#system, connection, 'confirming');
    const { channel } = opened;
    const open: Open = { connection, number: channel.ch, frameMax: connection.connection.frameMax };
    channel.on('return', (message) => this.#returned(message));
    channel.on('ack', (confirm) => this.#confirmed(confirm, 'done'));
    channel.on('nack', (confirm) => this.#confirmed(confirm, 'refused'));
    opened.onEnd((why) => this.#ended(open, why));
    this.#sequence = 0;
    this.#open = open;
    this.#wake();
  }

  #wake(): void {
    if (this.isReady) for (const answer of [...this.#waiting]) answer();
  }

  down(): void {
    this.#open = undefined;
    this.#forget(() => 'unknown');
  }

  /** The server closed the channel over something that was sent on it. What was sent after that it has not looked at. */
  #ended(open: Open, why: Error | undefined): void {
    if (open !== this.#open) return;
    this.#open = undefined;
    let guilty: Error | undefined;
    this.#forget(({ body }) => {
      if (guilty !== undefined) return 'unsent';
      guilty = tooLarge(body, why);
      return guilty ?? 'unknown';
    });
    void this.#openAnew(open.connection);
  }

  async #openAnew(connection: AmqpConnection): Promise<void> {
    if (this.#link.connection !== connection) return;
    try {
      await this.#openOn(connection);
    } catch (error) {
      this.#link.abandon(connection, error as Error);
    }
  }

  /** Nobody waits any longer to send something. */
  end(): void {
    for (const answer of [...this.#waiting]) answer();
  }

  // --- sending ----------------------------------------------------------------------------------------------------------

  /** Whether something can be sent now. */
  get isReady(): boolean {
    return this.#open !== undefined && !this.#isBlocked;
  }

  /** Whether it became so within `ms`. */
  ready(ms: number): Promise<boolean> {
    if (this.isReady) return Promise.resolve(true);
    return new Promise((resolve) => {
      const answer = () => {
        cancel();
        this.#waiting.delete(answer);
        resolve(this.isReady);
      };
      const cancel = this.#system.after(ms, answer);
      this.#waiting.add(answer);
    });
  }

  /** All in one write. Same order; never rejects. */
  send(parcels: readonly Parcel[]): Promise<readonly Sent[]> {
    const open = this.#open;
    if (open === undefined || this.#isBlocked || parcels.length === 0) {
      return Promise.resolve(parcels.map((): Sent => 'unsent'));
    }
    const since = this.#system.monotonic();
    const room = roomForProperties(open.frameMax);
    const frames: Buffer[] = [];
    const answer = new Promise<readonly Sent[]>((done) => {
      const batch: Batch = { results: [], left: parcels.length, done };
      for (let index = 0; index < parcels.length; index++) {
        const parcel = parcels[index]!;
        if (parcel.properties.length > room) {
          answerOne(batch, index, tooWide(parcel, room));
          continue;
        }
        this.#outstanding.set(++this.#sequence, { parcel, batch, index, since, isReturned: false });
        frames.push(publishFrames(open.number, open.frameMax, parcel));
      }
    });
    if (frames.length > 0) {
      open.connection.connection.stream.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
      this.#watch ??= this.#system.after(this.#confirmTimeoutMs, () => this.#lookForLate());
    }
    return answer;
  }

  // --- answers ----------------------------------------------------------------------------------------------------------

  /** A return names no send; of two to one place with one id it does not matter which is meant. */
  #returned({ fields, properties }: AmqpMessage): void {
    const messageId = textOf(readProperties(properties.raw)?.messageId);
    for (const outstanding of this.#outstanding.values()) {
      const { parcel } = outstanding;
      if (outstanding.isReturned || parcel.messageId !== messageId) continue;
      if (parcel.routingKey.toString('utf8', 1) !== fields.routingKey) continue;
      if (parcel.exchange.toString('utf8', 1) !== fields.exchange) continue;
      outstanding.isReturned = true;
      return;
    }
  }

  #confirmed({ deliveryTag, multiple }: Confirm, result: 'done' | 'refused'): void {
    if (!multiple) this.#settle(deliveryTag, result);
    else this.#settleUpTo(deliveryTag, result);
  }

  #settleUpTo(deliveryTag: number, result: 'done' | 'refused'): void {
    for (const sequence of this.#outstanding.keys()) {
      if (sequence > deliveryTag) break;
      this.#settle(sequence, result);
    }
  }

  #settle(sequence: number, result: Sent): void {
    const outstanding = this.#outstanding.get(sequence);
    if (outstanding === undefined) return;
    this.#outstanding.delete(sequence);
    const { batch, index, isReturned } = outstanding;
    answerOne(batch, index, isReturned && result === 'done' ? 'unroutable' : result);
  }

  #forget(resultOf: (parcel: Parcel) => Sent): void {
    for (const [sequence, { parcel }] of [...this.#outstanding]) this.#settle(sequence, resultOf(parcel));
    this.#watch?.();
    this.#watch = undefined;
  }

  /** One timer for all: the oldest comes first. */
  #lookForLate(): void {
    this.#watch = undefined;
    const oldest = this.#outstanding.values().next().value;
    if (oldest === undefined) return;
    const leftMs = oldest.since + this.#confirmTimeoutMs - this.#system.monotonic();
    if (leftMs > 0) {
      this.#watch = this.#system.after(leftMs, () => this.#lookForLate());
      return;
    }
    const { connection } = this.#open!;
    this.#link.abandon(connection, new Error(`a publish was not confirmed within ${this.#confirmTimeoutMs} ms`));
  }
}

function answerOne(batch: Batch, index: number, result: Sent): void {
  batch.results[index] = result;
  if (--batch.left === 0) batch.done(batch.results);
}

function tooWide({ properties }: Parcel, room: number): LazaretError {
  return new LazaretError(
    'LZ1119',
    `Headers of ${properties.length} bytes do not fit the ${room} that the server takes.`,
    {
      hint: 'Put what is large into the body.',
    },
  );
}

/** Of all that was on the channel the server refuses what is larger than the size that it names. */
function tooLarge(body: Uint8Array, why: Error | undefined): LazaretError | undefined {
  const limit = /message size \d+ is larger than configured max size (\d+)/.exec(why?.message ?? '')?.[1];
  if (limit === undefined || body.length <= Number(limit)) return undefined;
  return new LazaretError(
    'LZ1119',
    `A message of ${body.length} bytes is more than the ${limit} that the server takes.`,
    {
      hint: 'Put large things elsewhere, and send where they are.',
      cause: differenceIn(why),
    },
  );
}
