import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { AmqpMessage } from './amqplib.ts';
import { arrived } from './arrived.ts';
import type { OpenChannel } from './channel.ts';
import type { Origin } from './outgoing.ts';
import { isSuspect, NEVER_RETURNED, type Returns, returnsOf, strikesInLane } from './returns.ts';
import { readProperties } from './wire/properties.ts';
import { readTable } from './wire/table.ts';

/** No due time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

/** Whose a message is. 'settling': ours, while a copy of it is on its way. */
type State = 'buffered' | 'out' | 'settling' | 'closed';

/** A message on a channel of ours that is not acknowledged; the receipt of its delivery. Its tag means nothing on any other channel. */
export class Arrival {
  readonly from: OpenChannel;
  readonly message: AmqpMessage;
  /** Fetched from the lane of suspects. */
  readonly isAlone: boolean;
  /** Monotonic. */
  readonly at: number;
  readonly returns: Returns;
  state: State = 'buffered';
  delivery: Delivery | undefined;

  constructor(from: OpenChannel, message: AmqpMessage, isAlone: boolean, at: number) {
    this.from = from;
    this.message = message;
    this.isAlone = isAlone;
    this.at = at;
    this.returns = message.fields.redelivered ? returnsIn(message) : NEVER_RETURNED;
  }

  get tag(): number {
    return this.message.fields.deliveryTag;
  }

  get origin(): Origin {
    return this.message.fields;
  }

  get isOurs(): boolean {
    return this.state !== 'closed' && this.from.isOpen;
  }

  get isSuspect(): boolean {
    return isSuspect(this.returns);
  }
}

function returnsIn({ properties: { raw } }: AmqpMessage): Returns {
  const headers = readProperties(raw)?.headers;
  return returnsOf(true, headers === undefined ? [] : readTable(headers.subarray(4)).fields);
}

export interface HandOut {
  readonly queue: string;
  readonly maxAttempts: number;
  readonly consumerTimeoutMs: number;
}

/** `ageMs`: since it arrived. What is left of the server's patience is all the lease there is. */
export function toDelivery(arrival: Arrival, handOut: HandOut, now: number, ageMs: number): Delivery {
  const { message, sentAt } = arrived(handOut.queue, arrival.message.properties.raw, arrival.message.content);
  const { headers } = message;
  const notBefore = readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS);
  const { sent } = arrival.returns;
  return {
    message,
    source: { queue: handOut.queue },
    receipt: arrival,
    attempt: readAttempt(headers, handOut.maxAttempts),
    strikes: arrival.isAlone ? strikesInLane(arrival.returns) : 0,
    ...(sent === undefined ? {} : { deliveries: sent + 1 }),
    firstSeenAt: Math.floor(readTime(headers, HEADER.firstSeen, 0, now) ?? Math.min(sentAt ?? now, now)),
    ...(notBefore === undefined ? {} : { notBefore }),
    leaseMs: Math.max(0, handOut.consumerTimeoutMs - ageMs),
  };
}
