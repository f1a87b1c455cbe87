// A whole consumer. In memory as it stands; give it an address to keep the messages:
//
//   node examples/consumer.mjs sqlite:./orders.db
//   node examples/consumer.mjs postgres://user:password@localhost/database
//   node examples/consumer.mjs redis://localhost
//   node examples/consumer.mjs 'nats://localhost?provision=all'
//   node examples/consumer.mjs 'amqp://localhost?provision=all'
//   node examples/consumer.mjs 'kafka:localhost:9092?provision=all'

import { lazaret, Poison } from 'lazaret';

const app = lazaret({ broker: process.argv[2] ?? 'memory:', logger: false });

app.consume('orders', { backoff: ['200ms', '800ms', '3s'] }, async (msg, ctx) => {
  const order = msg.json(); // broken JSON: quarantined on the first attempt
  if (!order.customer) throw new Poison('customer is empty'); // never retried
  await charge(order, { key: ctx.idempotencyKey, signal: ctx.signal });
}); // anything else: retried after 200 ms, 800 ms, 3 s (±20 %), then quarantined

/** Stands for a payment service that is away when it is asked for the first time. */
async function charge(order, { key }) {
  if (order.order === 'o-2' && !asked.has(key)) {
    asked.add(key);
    throw Object.assign(new Error('payments: connection refused'), { code: 'ECONNREFUSED' });
  }
  console.log(`charged ${order.customer} for ${order.order} (${key})`);
}
const asked = new Set();

let open = 4;
const ended = new Promise((resolve) => {
  const end = () => --open === 0 && resolve();
  app.on('done', end);
  app.on('retrying', ({ id, delayMs, why }) => console.log(`${id} again in ${delayMs} ms: ${why}`));
  app.on('quarantined', ({ id, reason, why }) => {
    console.log(`${id} quarantined (${reason}): ${why}`);
    end();
  });
});

await app.start();
await app.send('orders', { order: 'o-1', customer: 'ada' }, { id: 'evt-1', key: 'customer-7' }); // id: the event's
await app.send('orders', { order: 'o-2', customer: 'bob' }, { id: 'evt-2' });
await app.send('orders', { order: 'o-3', customer: '' }, { id: 'evt-3' });
await app.send('orders', new TextEncoder().encode('{"order":"o-4"'), { id: 'evt-4' });

await ended; // a service waits for SIGTERM instead
await app.stop({ within: '25s' });
