// A consumer in a process of its own, for tests that kill it. Appends every start and end to a log outside the queue, with one write
// per line, so that nothing it did is forgotten when it dies. What a message does stands in its id.
import { appendFileSync } from 'node:fs';
import { nats } from '../../../dist/drivers/nats/index.js';
import { lazaret, Poison } from '../../../dist/index.js';

const { url, queue, log, options } = JSON.parse(process.argv[2]);
const app = lazaret({ broker: nats({ url }), logger: false, wait: '500ms' });
const note = (what, id, extra = '') => appendFileSync(log, `${what} ${id} ${process.pid} ${extra}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

app.consume(queue, options, async ({ id }, ctx) => {
  note('start', id, `attempt=${ctx.attempt}`);
  await pause(Math.random() * 20);
  if (id.startsWith('poison')) throw new Poison('it is poison');
  if (id.startsWith('once') && ctx.attempt < 2) throw new Error('not yet');
  note('end', id);
});

await app.start();
process.once('SIGTERM', async () => {
  await app.stop({ within: '20s' });
  process.exit(0);
});
