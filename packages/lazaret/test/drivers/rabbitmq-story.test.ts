import { afterAll, it } from 'vitest';
import { rabbitmq } from '../../src/drivers/rabbitmq/index.ts';
import { realSystem } from '../../src/system.ts';
import { onServer } from './on-server.ts';
import { lettersOf } from './rabbitmq/harness.ts';
import { freshName, Server } from './rabbitmq/server.ts';
import { OwnServer } from './story/own-server.ts';
import { story } from './story/story.ts';

await onServer('RabbitMQ: story', 'LAZARET_RABBITMQ_URL', async () => {
  const server = await OwnServer.start('rabbitmq');
  afterAll(() => server.end(), 60_000);

  it('keeps account of every message while workers and server are killed', async () => {
    const broker = await rabbitmq({ url: server.url, settleTime: '5s' }).connect(realSystem);
    const queue = freshName();
    // n.b. the waits of the workers' policy, and the time that quorum queues need before they can be trusted.
    await (await broker.provision(queue, { retryDelaysMs: [200] })).apply();
    try {
      await story({
        url: `${server.url}?settleTime=0s`,
        queue,
        broker,
        letters: () => lettersOf(new Server('RabbitMQ', server.url), `${queue}.dlq`).catch(() => []),
        crash: () => server.crash(),
        withinMs: 100_000,
      });
    } finally {
      await broker.close();
    }
  }, 180_000);
});
