import { afterEach, describe, expect, it } from 'vitest';
import { lettersOf } from './rabbitmq/harness.ts';
import { message, Scene } from './rabbitmq/scene.ts';
import { onServers, sleep } from './rabbitmq/server.ts';
import { Crew } from './story/crew.ts';

/** What becomes of a message stands in its id. */
function ids(count: number, crashers: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    if (n < crashers) return `crash-${n}`;
    if (n % 50 === 1) return `poison-${n}`;
    return n % 20 === 3 ? `twice-${n}` : `good-${n}`;
  });
}

await onServers('kills', (server) =>
  describe(`processes on one queue of ${server.name}`, () => {
    const scene = new Scene(server);
    let crew: Crew | undefined;
    afterEach(async () => {
      await crew?.end();
      crew = undefined;
      await scene.end();
    }, 30_000);

    it('lose nothing when they are killed, and quarantine no neighbour of the one that kills them', async () => {
      const all = ids(200, 1);
      const queue = await scene.queue();
      const { broker } = await scene.client();
      await broker.publish(
        queue,
        all.map((id) => message(id)),
      );
      crew = new Crew(`${server.url}?settleTime=0s`, queue, { concurrency: 10, backoff: ['200ms'], timeout: '30s' });
      crew.start(2);
      for (let kills = 0; kills < 3; kills++) {
        await sleep(700);
        crew.killOne();
      }
      const wanted = all.filter((id) => /^(crash|poison)/.test(id));
      const endAt = performance.now() + 60_000;
      while (performance.now() < endAt) {
        const { dead = 0 } = await broker.inspect(queue);
        if (dead >= wanted.length && crew.idsOf('end').size >= all.length - wanted.length) break;
        await sleep(200);
      }
      const letters = await lettersOf(server, `${queue}.dlq`);
      // n.b. a worker that dies between the confirmed letter and the acknowledgement leaves two of one id.
      expect([...new Set(letters.map(({ message: { id } }) => id))].sort()).toEqual([...wanted].sort());
      expect([...crew.idsOf('end')].sort()).toEqual(all.filter((id) => !wanted.includes(id)).sort());
      const starts = crew.lines().filter(({ what, id }) => what === 'start' && id === 'crash-0');
      expect(starts.length).toBeLessThanOrEqual(4);
      expect(letters.find(({ message: { id } }) => id === 'crash-0')?.evidence?.reason).toBe('crash');
    }, 90_000);
  }),
);
