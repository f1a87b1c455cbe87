// Redis: reads and acknowledgements of a stream in a raw loop of ioredis, and BullMQ, beside the driver.
//
//   npm run build && npm ci --prefix bench && scripts/services up redis && node bench/redis.mjs <url>
//
// n.b. everything in the server's database 15 is deleted.

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { redis } from '../packages/lazaret/dist/drivers/redis/index.js';
import { lazaret } from '../packages/lazaret/dist/index.js';
import { sideBySide, versionsOf } from './side-by-side.mjs';

const url = Object.assign(new URL(process.argv[2] ?? 'redis://localhost'), { pathname: '/15' }).toString();
const MESSAGES = 60_000;
/** Of the peer, which takes longer. */
const FEWER = 10_000;
const ROUNDS = 3;
const BATCH = 100;
const body = Buffer.alloc(200, 97);
const client = new Redis(url);

async function fill(stream, fields) {
  await client.flushdb();
  for (let sent = 0; sent < MESSAGES; sent += 1_000) {
    const pipeline = client.pipeline();
    for (let n = 0; n < 1_000; n++) pipeline.xadd(stream, '*', ...fields(sent + n));
    await pipeline.exec();
  }
}

/** What a careful team writes itself: a batch read, then acknowledged and deleted together with the next read. */
const raw = {
  name: `raw ioredis, XREADGROUP ${BATCH}, XACK, XDEL`,
  async prepare() {
    await fill('raw', () => ['body', body]);
    await client.xgroup('CREATE', 'raw', 'g', '0');
  },
  async run() {
    for (let left = MESSAGES; left > 0; ) {
      const [[, entries]] = await client.xreadgroupBuffer('GROUP', 'g', 'c', 'COUNT', BATCH, 'STREAMS', 'raw', '>');
      const ids = entries.map(([id]) => id);
      await Promise.all([client.xack('raw', 'g', ...ids), client.xdel('raw', ...ids)]);
      left -= ids.length;
    }
  },
};

const ours = (concurrency) => ({
  name: `lazaret, concurrency ${concurrency}`,
  prepare: () => fill('bench', (n) => ['body', body, 'lazaret-id', `m-${n}`]),
  async run() {
    const app = lazaret({ broker: redis({ url }), logger: false });
    let left = MESSAGES;
    await new Promise((resolve, reject) => {
      app.consume('bench', { concurrency }, async () => {
        if (--left === 0) resolve();
      });
      app.start().catch(reject);
    });
    await app.stop({ within: '10s' });
  },
});

const { hostname, port } = new URL(url);
const connection = { host: hostname, port: Number(port || 6379), db: 15, maxRetriesPerRequest: null };

const peer = {
  name: 'BullMQ, concurrency 100',
  messages: FEWER,
  async prepare() {
    await client.flushdb();
    const queue = new Queue('bench', { connection });
    for (let sent = 0; sent < FEWER; sent += 1_000) {
      const jobs = Array.from({ length: 1_000 }, () => ({
        name: 'j',
        data: { body: body.toString() },
        opts: { removeOnComplete: true },
      }));
      await queue.addBulk(jobs);
    }
    await queue.close();
  },
  async run() {
    let left = FEWER;
    let worker;
    await new Promise((resolve) => {
      worker = new Worker(
        'bench',
        async () => {
          if (--left === 0) resolve();
        },
        { connection, concurrency: 100 },
      );
    });
    await worker.close();
  },
};

const version = /redis_version:(\S+)/.exec(await client.info())[1];
const fsync = (await client.config('GET', 'appendfsync'))[1];
await sideBySide({
  title: 'Redis, draining a full stream',
  versions: `Redis ${version}, appendfsync ${fsync}, ${await versionsOf('ioredis', 'bullmq')}`,
  messages: MESSAGES,
  rounds: ROUNDS,
  contenders: [raw, ours(100), ours(10), peer],
  over: [
    ['lazaret, concurrency 100', raw.name, '>= 0.6'],
    ['lazaret, concurrency 100', peer.name, '>= 4.5'],
  ],
});
await client.flushdb();
client.disconnect();
