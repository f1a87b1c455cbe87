// examples/consumer.mjs with another broker; its queue is created. `npm install @nats-io/transport-node @nats-io/jetstream`, then:
//
//   node examples/nats.mjs nats://localhost

import { lazaret, Poison } from 'lazaret';
import { nats } from 'lazaret/nats';

const app = lazaret({ broker: nats({ url: process.argv[2] ?? 'nats://localhost', provision: 'all' }), logger: false });

app.consume('example.orders', { backoff: ['200ms', '800ms', '3s'] }, async (msg, ctx) => {
  const order = msg.json(); // broken JSON: quarantined on the first attempt
  if (!order.customer) throw new Poison('customer is empty'); // never retried
  if (ctx.attempt === 1 && order.order === 'o-2') throw new Error('payments: connection refused');
  console.log(`charged ${order.customer} for ${order.order} (${ctx.idempotencyKey})`);
}); // anything else: retried after 200 ms, 800 ms, 3 s (±20 %), then quarantined in example.orders.dlq

let open = 3;
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
await app.send('example.orders', { order: 'o-1', customer: 'ada' }, { id: 'evt-1' }); // id: the event's
await app.send('example.orders', { order: 'o-2', customer: 'bob' }, { id: 'evt-2' });
await app.send('example.orders', { order: 'o-3', customer: '' }, { id: 'evt-3' });

await ended; // a service waits for SIGTERM instead
await app.stop({ within: '25s' });
