import { fileURLToPath } from 'node:url';
import { afterAll, it } from 'vitest';
import { kafka } from '../../src/drivers/kafka/index.ts';
import { realSystem } from '../../src/system.ts';
import { lettersOf } from './kafka/harness.ts';
import { freshName, onKafka, Server } from './kafka/server.ts';
import { OwnServer } from './story/own-server.ts';
import { story } from './story/story.ts';

const WORKER = fileURLToPath(new URL('./kafka/worker.mjs', import.meta.url));
const PARTITIONS = 6;

await onKafka('story', async ({ client }) => {
  const own = await OwnServer.start('kafka');
  const server = new Server(own.url, client);
  afterAll(() => own.end(), 60_000);

  it('keeps account of every message while workers and server are killed', async () => {
    const broker = await kafka({ url: server.url, client, partitions: PARTITIONS }).connect(realSystem);
    const queue = freshName();
    await (await broker.provision(queue, {})).apply();
    try {
      await story({
        url: server.url,
        queue,
        broker,
        worker: WORKER,
        letters: () => lettersOf(server, queue, PARTITIONS).catch(() => []),
        crash: () => own.crash(),
        withinMs: 100_000,
      });
    } finally {
      await broker.close();
    }
  }, 180_000);
});
