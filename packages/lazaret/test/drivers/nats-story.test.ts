import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { nats } from '../../src/drivers/nats/index.ts';
import { realSystem } from '../../src/system.ts';
import { lettersOf } from './nats/harness.ts';
import { freshName, onNats, Server } from './nats/server.ts';
import { OwnServer } from './story/own-server.ts';
import { story } from './story/story.ts';

await onNats('story, with a journal', async () => {
  const server = await OwnServer.start('nats');
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-journal-'));
  afterAll(async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps account of every message while workers and server are killed', async () => {
    const broker = await nats({ url: server.url, ackWait: '3s' }).connect(realSystem);
    const watcher = new Server(server.url);
    const queue = freshName();
    await (await broker.provision(queue, {})).apply();
    try {
      await story({
        url: `${server.url}?ackWait=3s`,
        queue,
        broker,
        app: { store: `sqlite:${join(folder, 'journal.db')}` },
        letters: () => lettersOf(watcher, `${queue}_dlq`).catch(() => []),
        crash: () => server.crash(),
        withinMs: 100_000,
      });
    } finally {
      await watcher.end();
      await broker.close();
    }
  }, 150_000);
});
