import type { Delivery } from '../../ports/broker.ts';
import type { Msg } from './client.ts';

/** Whose a message is. 'settling': ours, while a word about it is on its way. */
type State = 'buffered' | 'out' | 'settling' | 'closed';

/** A message that the server leased to us. Times are monotonic milliseconds. */
export interface Receipt {
  readonly message: Msg;
  /** Where a word about it goes: valid on every connection, as long as nobody else has the message. */
  readonly ackTo: string;
  readonly sequence: number;
  readonly deliveries: number;
  /** Nanoseconds since the epoch, as text: when it was stored. With the sequence it names one message, also after a stream was made anew. */
  readonly storedAt: string;
  state: State;
  /** When the server takes it back unless it hears of us. */
  leaseEndsAt: number;
  /** Until when the lease is kept up by extension. */
  wantedUntil: number;
  delivery: Delivery | undefined;
}

/**
 * '$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer's sequence>.<nanoseconds>.<pending>', and newer with domain and
 * account behind the second word and a token at the end.
 */
export function readReceipt(message: Msg, now: number, leaseMs: number, wantedMs: number): Receipt | undefined {
  const ackTo = message.reply ?? '';
  if (!ackTo.startsWith('$JS.ACK.')) return undefined;
  const words = ackTo.split('.');
  const at = words.length > 9 ? 6 : 4;
  const deliveries = Number(words[at]);
  const sequence = Number(words[at + 1]);
  const storedAt = words[at + 3];
  if (!(deliveries >= 1) || !(sequence >= 1) || storedAt === undefined) return undefined;
  return {
    message,
    ackTo,
    sequence,
    deliveries,
    storedAt,
    state: 'buffered',
    leaseEndsAt: now + leaseMs,
    wantedUntil: now + Math.max(leaseMs, wantedMs),
    delivery: undefined,
  };
}

/** Epoch milliseconds. */
export function storedAtMs(receipt: Receipt): number {
  return Math.floor(Number(receipt.storedAt) / 1e6);
}

export function isOurs(receipt: Receipt, now: number): boolean {
  return receipt.state !== 'closed' && now < receipt.leaseEndsAt;
}
