import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { kafka } from '../../src/drivers/kafka/index.ts';
import { realSystem } from '../../src/system.ts';
import { lettersOf } from './kafka/harness.ts';
import { freshName, onKafka, sleep } from './kafka/server.ts';
import { Crew } from './story/crew.ts';

const WORKER = fileURLToPath(new URL('./kafka/worker.mjs', import.meta.url));
const PARTITIONS = 6;

/** What becomes of a message stands in its id. */
function ids(count: number, crashers: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    if (n < crashers) return `crash-${n}`;
    if (n % 50 === 1) return `poison-${n}`;
    return n % 20 === 3 ? `twice-${n}` : `good-${n}`;
  });
}

await onKafka('kills', (server) =>
  describe('processes in one group', () => {
    let crew: Crew | undefined;
    afterEach(async () => {
      await crew?.end();
      crew = undefined;
    }, 30_000);

    it('lose nothing when they are killed, and quarantine no neighbour of the one that kills them', async () => {
      const { url, client } = server;
      const all = ids(600, 1);
      const queue = freshName();
      const broker = await kafka({ url, client, partitions: PARTITIONS }).connect(realSystem);
      await (await broker.provision(queue, {})).apply();
      await broker.publish(
        queue,
        all.map((id) => ({ id, body: Buffer.from(id) })),
      );
      const options = { concurrency: 10, backoff: ['200ms'], timeout: '30s' };
      crew = new Crew(url, queue, options, {}, WORKER);
      crew.start(2);
      for (let kills = 0; kills < 3; kills++) {
        await sleep(1_000);
        crew.killOne();
      }
      const wanted = all.filter((id) => /^(crash|poison)/.test(id));
      const endAt = performance.now() + 60_000;
      while (performance.now() < endAt) {
        const { dead = 0 } = await broker.inspect(queue);
        if (dead >= wanted.length && crew.idsOf('end').size >= all.length - wanted.length) break;
        await sleep(200);
      }
      const letters = await lettersOf(server, queue, PARTITIONS);
      // n.b. a worker that dies between the confirmed letter and its commit leaves two of one id.
      expect([...new Set(letters.map(({ message: { id } }) => id))].sort()).toEqual([...wanted].sort());
      expect([...crew.idsOf('end')].sort()).toEqual(all.filter((id) => !wanted.includes(id)).sort());
      const starts = crew.lines().filter(({ what, id }) => what === 'start' && id === 'crash-0');
      expect(starts.length).toBeLessThanOrEqual(4);
      expect(letters.find(({ message: { id } }) => id === 'crash-0')?.evidence?.reason).toBe('crash');
      await broker.close();
    }, 90_000);
  }),
);
