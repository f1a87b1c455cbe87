// A handler as `lazaret run` takes it: called with each line, like with each message of a queue.
//
//   npx lazaret run examples/orders.mjs --input examples/orders.ndjson --backoff 200ms,500ms

import { Poison } from 'lazaret';

const stock = new Map([
  ['bread', 12],
  ['cheese', 3],
  ['wine', 40],
]);

export default async function onOrder(msg, ctx) {
  const order = msg.json(); // broken JSON is quarantined by itself, with line and column

  if (!stock.has(order.item)) throw new Poison(`nobody sells '${order.item}'`); // never retried

  if (order.slow && ctx.attempt === 1) throw new PaymentsAway(); // retried with backoff

  stock.set(order.item, stock.get(order.item) - order.amount);
}

/** What a client library throws when a service does not answer: known by its code, no word of Lazaret in it. */
class PaymentsAway extends Error {
  code = 'ECONNREFUSED';
  constructor() {
    super('payments: connection refused');
  }
}
