import type { Delivery } from '../../ports/broker.ts';

/** By what a hand-out is recognised when it comes back. */
export interface Receipt {
  /** Of the entry in its stream. */
  readonly id: string;
  /** The number of the hand-out. Neither it nor `id` is ever given to another. */
  readonly token: number;
}

export function receiptOf(delivery: Delivery): Receipt {
  return delivery.receipt as Receipt;
}
