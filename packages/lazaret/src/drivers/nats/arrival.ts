import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import { type HeaderList, headerText, type Message, NO_HEADERS } from '../../core/message.ts';
import type { Delivery } from '../../ports/broker.ts';
import { headersOf, MESSAGE_ID } from './headers.ts';
import { type Receipt, storedAtMs } from './receipt.ts';

/** No due time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

/** A message of the client, whether it was delivered or looked up. */
export interface Found {
  readonly data: Uint8Array;
  readonly headers?: (Iterable<[string, string[]]> & { get(name: string): string }) | undefined;
}

/** `position`: stream and sequence, which is its id where nobody gave it one. */
export function messageOf({ data, headers: found }: Found, position: string): Message {
  if (found === undefined) return { id: position, body: data, headers: NO_HEADERS };
  const headers = headersOf(found);
  const id = headerText(headers, HEADER.id) || found.get(MESSAGE_ID) || position;
  const key = headerText(headers, HEADER.key);
  return key === undefined ? { id, body: data, headers } : { id, key, body: data, headers };
}

/** What all deliveries of one subscription have in common. */
export interface HandOut {
  readonly queue: string;
  readonly stream: string;
  readonly maxAttempts: number;
}

/** The broker counts deliveries, not failures: without a journal that is all there is. A copy of ours carries on from the count of its original. */
export function toDelivery(
  receipt: Receipt,
  found: Found,
  { queue, stream, maxAttempts }: HandOut,
  now: number,
  leaseMs: number,
): Delivery {
  const position = `${stream}:${receipt.sequence}`;
  const message = messageOf(found, position);
  const { headers } = message;
  const storedAt = storedAtMs(receipt);
  const delivery: { -readonly [field in keyof Delivery]: Delivery[field] } = {
    message,
    source: { queue, position },
    receipt,
    attempt: Math.min(maxAttempts, receipt.deliveries),
    deliveries: receipt.deliveries,
    firstSeenAt: Math.min(storedAt, now),
    leaseMs: Math.max(0, leaseMs),
  };
  if (headers.length > 0) readOwn(delivery, headers, maxAttempts, now);
  return delivery;
}

function readOwn(
  delivery: { -readonly [field in keyof Delivery]: Delivery[field] },
  headers: HeaderList,
  maxAttempts: number,
  now: number,
): void {
  const carried = readAttempt(headers, maxAttempts);
  delivery.attempt = Math.min(maxAttempts, carried - 1 + delivery.attempt);
  const firstSeen = readTime(headers, HEADER.firstSeen, 0, now);
  if (firstSeen !== undefined) delivery.firstSeenAt = firstSeen;
  const notBefore = readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS);
  if (notBefore !== undefined) delivery.notBefore = notBefore;
}
