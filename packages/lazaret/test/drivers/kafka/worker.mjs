// A consumer in a process of its own, for tests that kill it. Appends every start and end to a log outside the queue, with one write
// per line, so that nothing it did is forgotten when it dies. What a message does stands in its id.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { kafka } from '../../../dist/drivers/kafka/index.js';
import { lazaret, Poison } from '../../../dist/index.js';

const { url, queue, log, options } = JSON.parse(process.argv[2]);
const load = createRequire(new URL('../../../../../scripts/kafka-client/package.json', import.meta.url));
const client = load('@confluentinc/kafka-javascript');
const app = lazaret({ broker: kafka({ url, client, sessionTimeout: '3s' }), logger: false, wait: '500ms' });
const note = (what, id, extra = '') => appendFileSync(log, `${what} ${id} ${process.pid} ${extra}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

app.consume(queue, options, async ({ id }, ctx) => {
  note('start', id, `attempt=${ctx.attempt} strikes=${ctx.strikes}`);
  await pause(Math.random() * 40);
  if (id.startsWith('crash')) process.kill(process.pid, 'SIGKILL');
  if (id.startsWith('poison')) throw new Poison('it is poison');
  if (id.startsWith('twice') && ctx.attempt < 3) throw new Error('not yet');
  note('end', id);
});

for (const name of ['quarantined', 'running-alone', 'trouble']) {
  app.on(name, ({ id, reason, error }) => note(name, id ?? '-', reason ?? error?.message ?? ''));
}

// n.b. its server may be on its way up again: who is over is started again.
await app.start().catch((error) => {
  note('trouble', '-', error.message);
  process.exit(7);
});
process.stdout.write('ready\n');
process.once('SIGTERM', async () => {
  await app.stop({ within: '20s' });
  process.exit(0);
});
