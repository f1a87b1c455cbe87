import { afterEach, describe, expect, it } from 'vitest';
import { nats } from '../../src/drivers/nats/index.ts';
import type { Broker } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { lettersOf } from './nats/harness.ts';
import { OwnServer } from './nats/own-server.ts';
import { freshName, onNats, Server, sleep } from './nats/server.ts';
import { Crew } from './story/crew.ts';

/** What becomes of a message stands in its id. */
const ids = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => {
    const n = from + i;
    if (n % 25 === 1) return `poison-${n}`;
    return n % 20 === 3 ? `twice-${n}` : `good-${n}`;
  });

// n.b. the server that is killed is one of this test alone; the common one only says that there is a server at all.
await onNats('kills', () =>
  describe('processes on one queue of NATS', () => {
    const ends: (() => unknown)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    }, 30_000);

    it('lose nothing when they are killed, and the server with them', async () => {
      const own = await OwnServer.start();
      ends.push(() => own.end());
      const broker: Broker = await nats({ url: own.url, ackWait: '2s' }).connect(realSystem);
      ends.push(() => broker.close());
      const watcher = new Server(own.url);
      ends.push(() => watcher.end());
      const queue = freshName();
      await (await broker.provision(queue, {})).apply();
      // n.b. the broker's count is the attempt, and kills are counted too: a message may be killed more often than it fails.
      const crew = new Crew(own.url, queue, { concurrency: 10, backoff: ['200ms'], maxAttempts: 20 });
      ends.push(() => crew.end());
      const all: string[] = [];
      crew.start(2);
      for (let round = 0; round < 4; round++) {
        all.push(...(await publishSurely(broker, queue, ids(round * 100, 100))));
        await sleep(400);
        if (round % 2 === 0) crew.killOne();
        else {
          await own.kill();
          await own.up();
        }
      }
      const poison = all.filter((id) => id.startsWith('poison'));
      const others = all.filter((id) => !id.startsWith('poison'));
      await expect.poll(() => [...crew.idsOf('end')].sort(), { timeout: 25_000, interval: 200 }).toEqual(others.sort());
      const dead = async () => [
        ...new Set((await lettersOf(watcher, `${queue}_dlq`)).map(({ message }) => message.id)),
      ];
      await expect.poll(async () => (await dead()).sort(), { timeout: 25_000, interval: 200 }).toEqual(poison.sort());
      // n.b. of the stream itself a killed server forgets what it had removed; its consumer knows that it is done.
      const open = async () => {
        const { ready, leased } = await broker.inspect(queue);
        return { ready, leased };
      };
      await expect.poll(open, { timeout: 10_000, interval: 200 }).toEqual({ ready: 0, leased: 0 });
    }, 60_000);
  }),
);

/** Until each is confirmed; what was not is sent again under the same dedupe id. */
async function publishSurely(broker: Broker, queue: string, wanted: readonly string[]): Promise<readonly string[]> {
  let open = wanted;
  while (open.length > 0) {
    const results = await broker.publish(
      queue,
      open.map((id) => ({ id, dedupeId: id, body: Buffer.from(id) })),
    );
    open = open.filter((_, i) => results[i] !== 'done');
    if (open.length > 0) await sleep(100);
  }
  return wanted;
}
