import { afterAll, it } from 'vitest';
import { openPostgres } from '../../src/drivers/postgres/index.ts';
import { realSystem } from '../../src/system.ts';
import { onPostgres } from './postgres/server.ts';
import { OwnServer } from './story/own-server.ts';
import { story } from './story/story.ts';

await onPostgres('story', async () => {
  const server = await OwnServer.start('postgres');
  afterAll(() => server.end());

  it('keeps account of every message while workers and server are killed', async () => {
    const broker = await openPostgres({ url: server.url, system: realSystem });
    try {
      await story({
        url: server.url,
        queue: 'orders',
        broker,
        letters: async () => (await broker.letters.list({ max: 10_000 })).items,
        crash: () => server.crash(),
        withinMs: 60_000,
      });
    } finally {
      await broker.close();
    }
  }, 120_000);
});
