import type { Message } from '../../core/message.ts';
import { messageOf } from '../../core/stored-message.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { PgRow } from './client.ts';
import type { Receipt } from './receipt.ts';
import { loadText } from './text.ts';

/** What is the same for all deliveries of a subscription. */
export interface HandOut {
  readonly queueName: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
}

/** A claimed row as a delivery. The row shows this hand-out counted in: one delivery and one start more than before. */
export function toDelivery(row: PgRow, { queueName, leaseMs, maxAttempts }: HandOut): Delivery {
  const seq = row.seq as number;
  const deliveries = row.deliveries as number;
  const receipt: Receipt = { seq, token: deliveries };
  const delivery = {
    message: loadMessage(row),
    source: { queue: queueName, position: `row ${seq}` },
    receipt,
    attempt: Math.min(row.attempt as number, maxAttempts),
    strikes: (row.starts as number) - 1,
    deliveries,
    firstSeenAt: row.first_seen as number,
    leaseMs,
  };
  const notBefore = row.not_before as number | null;
  if (notBefore === null && row.blocked !== true) return delivery;
  return {
    ...delivery,
    ...(notBefore === null ? {} : { notBefore }),
    ...(row.blocked === true ? { blocked: true } : {}),
  };
}

/** A message from its columns. */
export function loadMessage({ id, key, headers, native, body }: PgRow): Message {
  return messageOf(
    loadText(id as string),
    key === null ? null : loadText(key as string),
    headers as string | null,
    native as string | null,
    body as Uint8Array | null,
  );
}
