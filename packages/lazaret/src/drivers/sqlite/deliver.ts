import type { Delivery } from '../../ports/broker.ts';
import type { Row } from '../../sqlite/binding.ts';
import { COLUMN } from './claim.ts';
import { loadMessage } from './message-columns.ts';
import type { Receipt } from './receipt.ts';

/** What is the same for all deliveries of a subscription. */
export interface HandOut {
  readonly queueName: string;
  readonly queue: number;
  readonly leaseMs: number;
  readonly maxAttempts: number;
}

/** A claimed row as a delivery. The row shows what was before the claim; this hand-out is one delivery and one start more. */
export function toDelivery(row: Row, handOut: HandOut): Delivery {
  const seq = row[COLUMN.seq] as number;
  const deliveries = (row[COLUMN.deliveries] as number) + 1;
  const receipt: Receipt = { queue: handOut.queue, seq, token: deliveries };
  const delivery = {
    message: loadMessage(
      row[COLUMN.id]!,
      row[COLUMN.key]!,
      row[COLUMN.headers]!,
      row[COLUMN.native]!,
      row[COLUMN.body]!,
    ),
    source: { queue: handOut.queueName, position: `row ${seq}` },
    receipt,
    attempt: Math.min(row[COLUMN.attempt] as number, handOut.maxAttempts),
    strikes: row[COLUMN.starts] as number,
    deliveries,
    firstSeenAt: row[COLUMN.firstSeen] as number,
    leaseMs: handOut.leaseMs,
  };
  const notBefore = row[COLUMN.notBefore] as number | null;
  const blocked = row[COLUMN.blocked] === 1;
  if (notBefore === null && !blocked) return delivery;
  return { ...delivery, ...(notBefore === null ? {} : { notBefore }), ...(blocked ? { blocked: true } : {}) };
}
