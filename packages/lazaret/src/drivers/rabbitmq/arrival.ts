import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import type { Delivery, Source } from '../../ports/broker.ts';
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

/** What all deliveries of one subscription have in common. */
export interface HandOut {
  readonly source: Source;
  readonly maxAttempts: number;
  readonly consumerTimeoutMs: number;
}

/** `ageMs`: since it arrived. What is left of the server's patience is all the lease there is. */
export function toDelivery(arrival: Arrival, handOut: HandOut, now: number, ageMs: number): Delivery {
  const { message, sentAt } = arrived(handOut.source.queue, arrival.message.properties.raw, arrival.message.content);
  const { headers } = message;
  const delivery: { -readonly [field in keyof Delivery]: Delivery[field] } = {
    message,
    source: handOut.source,
    receipt: arrival,
    attempt: readAttempt(headers, handOut.maxAttempts),
    strikes: arrival.isAlone ? strikesInLane(arrival.returns) : 0,
    firstSeenAt: Math.floor(readTime(headers, HEADER.firstSeen, 0, now) ?? Math.min(sentAt ?? now, now)),
    leaseMs: Math.max(0, handOut.consumerTimeoutMs - ageMs),
  };
  const notBefore = readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS);
  if (notBefore !== undefined) delivery.notBefore = notBefore;
  if (arrival.returns.sent !== undefined) delivery.deliveries = arrival.returns.sent + 1;
  return delivery;
}
