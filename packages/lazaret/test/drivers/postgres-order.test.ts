import { afterAll, describe, expect, it } from 'vitest';
import { openPostgres } from '../../src/drivers/postgres/index.ts';
import { realSystem } from '../../src/system.ts';
import { freshSchema, onPostgres, plainly } from './postgres/server.ts';

const NO_SIGNAL = new AbortController().signal;
const KEYS = 4;
const MESSAGES = 400;
const CONSUMERS = 4;

await onPostgres('order', (url) => {
  const schema = freshSchema();
  afterAll(() => plainly(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`));

  describe('several processes on one queue with few keys', () => {
    it('keep the order of each key, and leave none behind that waits for nobody', async () => {
      const brokers = await Promise.all(
        Array.from({ length: CONSUMERS }, () => openPostgres({ url, schema, connections: 3, system: realSystem })),
      );
      const outgoing = Array.from({ length: MESSAGES }, (_, n) => ({ id: `${n}`, key: `key-${n % KEYS}`, body: null }));
      await brokers[0]!.publish('q', outgoing);
      const seen: number[] = [];
      const consume = async (broker: (typeof brokers)[number]) => {
        const subscription = await broker.subscribe('q', {
          prefetch: 10,
          leaseMs: 30_000,
          waitMs: 500,
          order: 'key',
          maxAttempts: 4,
          lost: () => expect.fail('nothing is lost here'),
          suspects() {},
        });
        for (const endAt = performance.now() + 20_000; seen.length < MESSAGES && performance.now() < endAt; ) {
          const deliveries = await subscription.pull(7, NO_SIGNAL);
          for (const { message } of deliveries) seen.push(Number(message.id));
          // In ones, so that ends and claims of a key meet as often as they can.
          await Promise.all(deliveries.map((delivery) => subscription.settle([{ delivery, verb: 'ack' }])));
        }
      };
      await Promise.all(brokers.map(consume));
      expect(seen).toHaveLength(MESSAGES);
      for (let key = 0; key < KEYS; key++) {
        const ofKey = seen.filter((n) => n % KEYS === key);
        expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
      }
      expect(await brokers[0]!.inspect('q')).toEqual({ ready: 0, delayed: 0, leased: 0, dead: 0 });
      await Promise.all(brokers.map((broker) => broker.close()));
    }, 30_000);
  });

  describe('processes that start together on an empty database', () => {
    it('make the tables once', async () => {
      const fresh = freshSchema();
      const brokers = await Promise.all(
        Array.from({ length: 6 }, () => openPostgres({ url, schema: fresh, connections: 2, system: realSystem })),
      );
      await Promise.all(brokers.map((broker) => broker.close()));
      await plainly(url, `DROP SCHEMA ${fresh} CASCADE`);
    });
  });
});
