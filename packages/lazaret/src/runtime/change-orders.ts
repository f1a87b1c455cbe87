import {
  ORDERS_TTL_MS,
  ordersKey,
  readOrders,
  type StandingOrder,
  writeOrders,
} from '../core/storm/standing-orders.ts';
import type { SharedState } from '../ports/shared-state.ts';
import { swap } from './swap.ts';

export type OrdersChange = (orders: readonly StandingOrder[]) => readonly StandingOrder[];

/** Changes what is ordered of a queue, from any process. Answers what stands then. Rejects where the store is away, or never still. */
export async function changeOrders(
  shared: SharedState,
  queue: string,
  to: OrdersChange,
): Promise<readonly StandingOrder[]> {
  let orders: readonly StandingOrder[] = [];
  const done = await swap(shared, ordersKey(queue), ORDERS_TTL_MS, (text) => {
    orders = to(readOrders(text));
    return writeOrders(orders);
  });
  if (!done) throw new Error('others changed the orders of this queue all the time');
  return orders;
}
