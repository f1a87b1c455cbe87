import { HEADER, readTime } from '../../core/headers.ts';
import { NO_HEADERS } from '../../core/message.ts';
import type { Delivery } from '../../ports/broker.ts';
import { messageOfEntry } from './entry.ts';
import { textOf } from './link.ts';
import type { Receipt } from './receipt.ts';

/** No due time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

/** What is the same for all deliveries of a subscription. */
export interface HandOut {
  readonly queue: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
}

/** As the scripts answer it: id, fields, starts, deliveries, attempt, not-before; this hand-out is counted in. */
export type Claimed = readonly [Uint8Array, readonly Buffer[], number, number, number, Uint8Array];

export function toDelivery(claimed: Claimed, { queue, leaseMs, maxAttempts }: HandOut, now: number): Delivery {
  const [entry, fields, starts, deliveries, attempt, due] = claimed;
  const id = textOf(entry);
  const message = messageOfEntry(id, fields);
  const receipt: Receipt = { id, token: deliveries };
  const storedAt = Number(id.split('-', 1)[0]);
  const { headers } = message;
  const firstSeenAt = headers === NO_HEADERS ? undefined : readTime(headers, HEADER.firstSeen, 0, storedAt);
  const notBefore =
    dueOf(textOf(due)) ?? (due.length > 0 ? undefined : readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS));
  return {
    message,
    source: { queue, position: `entry ${id}` },
    receipt,
    attempt: Math.min(attempt, maxAttempts),
    strikes: starts - 1,
    deliveries,
    firstSeenAt: firstSeenAt ?? storedAt,
    leaseMs,
    ...(notBefore === undefined ? {} : { notBefore }),
  };
}

/** '-' was written for none; empty is what nobody said anything about yet. */
function dueOf(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Number(text) : undefined;
}
