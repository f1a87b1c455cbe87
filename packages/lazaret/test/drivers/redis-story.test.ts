import { afterAll, it } from 'vitest';
import { openRedis } from '../../src/drivers/redis/index.ts';
import { realSystem } from '../../src/system.ts';
import { onRedis } from './redis/server.ts';
import { OwnServer } from './story/own-server.ts';
import { story } from './story/story.ts';

await onRedis('story', async () => {
  const server = await OwnServer.start('redis');
  afterAll(() => server.end());

  it('keeps account of every message while workers and server are killed', async () => {
    const broker = await openRedis({ url: server.url, system: realSystem });
    try {
      await story({
        url: server.url,
        queue: 'orders',
        broker,
        letters: async () => (await broker.letters('orders', undefined, 10_000)).items,
        crash: () => server.crash(),
        withinMs: 60_000,
      });
    } finally {
      await broker.close();
    }
  }, 120_000);
});
