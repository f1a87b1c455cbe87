// NATS JetStream: the client's own loops beside the driver, in alternating rounds.
//
//   npm run build && scripts/services up nats && node bench/nats.mjs nats://127.0.0.1:21740
//
// Rates rank on one machine; read them against the raw loops of the same run. CPU is the client's, of all its threads.

import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { nats } from '../packages/lazaret/dist/drivers/nats/index.js';
import { lazaret } from '../packages/lazaret/dist/index.js';

const url = process.argv[2] ?? 'nats://localhost';
const MESSAGES = 30_000;
const AT_ONCE = 1_000;
const ROUNDS = 3;
const QUEUE = 'lazaret-bench';
const body = new Uint8Array(100).fill(65);

const connection = await connect({ servers: new URL(url).host });
const manager = await jetstreamManager(connection, { checkAPI: false });
const client = jetstream(connection);

/** @type {readonly (readonly [string, 'full' | 'empty', () => Promise<unknown>])[]} */
const CONTENDERS = [
  ['raw consume(), 100 at once', 'full', () => consume(100)],
  ['raw consume(), 1,000 at once', 'full', () => consume(1_000)],
  ['raw fetch(), 100 at once', 'full', () => fetchAll(100)],
  ['raw fetch(), 1,000 at once', 'full', () => fetchAll(1_000)],
  ['app.consume, concurrency 100', 'full', () => app(100)],
  ['app.consume, concurrency 10', 'full', () => app(10)],
  ['raw publish(), 1,000 at once', 'empty', publishRaw],
  ['app.send, 1,000 at once', 'empty', publishOurs],
];

async function consume(most) {
  const messages = await (await client.consumers.get(QUEUE, QUEUE)).consume({ max_messages: most });
  let left = MESSAGES;
  for await (const message of messages) {
    message.ack();
    if (--left === 0) break;
  }
  await connection.flush();
}

async function fetchAll(most) {
  const consumer = await client.consumers.get(QUEUE, QUEUE);
  for (let left = MESSAGES; left > 0; ) {
    for await (const message of await consumer.fetch({ max_messages: most, expires: 1_000 })) {
      message.ack();
      left--;
    }
  }
  await connection.flush();
}

async function app(concurrency) {
  const consumer = lazaret({ broker: nats({ url }), logger: false });
  let left = MESSAGES;
  await new Promise((resolve, reject) => {
    consumer.consume(QUEUE, { concurrency }, async () => {
      if (--left === 0) resolve();
    });
    consumer.start().catch(reject);
  });
  await consumer.stop({ within: '10s' });
}

async function publishRaw() {
  for (let sent = 0; sent < MESSAGES; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => client.publish(QUEUE, body)));
  }
}

async function publishOurs() {
  const publisher = lazaret({ broker: nats({ url }), logger: false });
  await publisher.start();
  for (let sent = 0; sent < MESSAGES; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => publisher.send(QUEUE, body)));
  }
  await publisher.stop();
}

async function prepare(state) {
  await forget();
  await manager.streams.add({ name: QUEUE, subjects: [QUEUE], retention: 'workqueue', storage: 'file' });
  const leased = { ack_policy: 'explicit', ack_wait: 90e9, max_ack_pending: -1 };
  await manager.consumers.add(QUEUE, { durable_name: QUEUE, ...leased });
  if (state === 'empty') return;
  for (let sent = 0; sent < MESSAGES; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => client.publish(QUEUE, body)));
  }
}

async function forget() {
  for (const stream of [QUEUE, `${QUEUE}_dlq`]) await manager.streams.delete(stream).catch(() => undefined);
}

async function measure(state, run) {
  await prepare(state);
  const [cpu, at] = [process.cpuUsage(), performance.now()];
  await run();
  const ms = performance.now() - at;
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (MESSAGES / ms) * 1_000, cpuUs: (user + system) / MESSAGES };
}

const rounds = CONTENDERS.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, [, state, run]] of CONTENDERS.entries()) rounds[i].push(await measure(state, run));
}
for (const [i, [name]] of CONTENDERS.entries()) {
  const { rate, cpuUs } = rounds[i].sort((a, b) => a.rate - b.rate)[Math.floor(ROUNDS / 2)];
  console.log(`${name.padEnd(30)} ${Math.round(rate).toString().padStart(7)}/s  ${cpuUs.toFixed(1).padStart(5)} us`);
}
await forget();
await connection.close();
