// A consumer in a process of its own, for tests that kill it. Prints one JSON line per event; appends every start and end to a log
// outside the queue, with one write per line, so that nothing it did is forgotten when it dies.
import { appendFileSync } from 'node:fs';
import { lazaret } from '../../dist/index.js';

const { db, log, mode, options = {} } = JSON.parse(process.argv[2]);
const app = lazaret({ broker: `sqlite:${db}`, logger: false, wait: '500ms' });
const note = (what, id, extra = '') => appendFileSync(log, `${what} ${id} ${process.pid} ${extra}\n`);
const alone = new Set();

for (const name of ['done', 'quarantined', 'lease-lost', 'running-alone', 'released', 'retrying']) {
  app.on(name, (event) => process.stdout.write(`${JSON.stringify({ name, id: event.id, reason: event.reason })}\n`));
}
app.on('running-alone', ({ id }) => alone.add(id));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const HANDLERS = {
  /** Takes 0 to 5 ms. */
  quick: async () => pause(Math.random() * 5),
  /** The message 'bad' kills the process. */
  killer: async (id) => {
    if (id === 'bad') process.exit(137);
    await pause(20);
  },
  /** The first worker that gets the message blocks its event loop for 6 s. */
  blocker: async (_id, ctx) => {
    if (ctx.strikes === 0) block(6_000);
  },
  /** Never ends. */
  stuck: () => new Promise(() => setInterval(() => {}, 1_000)),
};

app.consume('orders', options, async (message, ctx) => {
  const { id } = message;
  note('start', id, alone.has(id) ? 'alone' : `strikes=${ctx.strikes}`);
  await HANDLERS[mode](id, ctx);
  note('end', id);
});

await app.start();
process.stdout.write('{"name":"ready"}\n');
process.once('SIGTERM', async () => {
  const counts = await app.stop({ within: '20s' });
  process.stdout.write(`${JSON.stringify({ name: 'stopped', counts })}\n`);
  process.exit(0);
});
