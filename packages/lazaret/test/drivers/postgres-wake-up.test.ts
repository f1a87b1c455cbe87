import { afterEach, describe, expect, it } from 'vitest';
import { openPool } from '../../src/drivers/postgres/client.ts';
import {
  openPostgres,
  type PgPool,
  type PostgresBroker,
  type PostgresOptions,
} from '../../src/drivers/postgres/index.ts';
import type { Subscription } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { detourTo, through } from './detour.ts';
import { freshSchema, onPostgres, plainly } from './postgres/server.ts';

const NO_SIGNAL = new AbortController().signal;

await onPostgres('waking up', (url) => {
  const schema = freshSchema();
  const open: (() => Promise<unknown>)[] = [];
  const opened = async (options: PostgresOptions = { url }): Promise<PostgresBroker> => {
    const broker = await openPostgres({ ...options, schema, system: realSystem });
    open.push(() => broker.close());
    return broker;
  };
  const subscribed = (broker: PostgresBroker, queue: string): Promise<Subscription> =>
    broker.subscribe(queue, {
      prefetch: 10,
      leaseMs: 30_000,
      waitMs: 20_000,
      order: 'none',
      maxAttempts: 4,
      lost() {},
      suspects() {},
    });
  const cameAfterMs = async (pull: Promise<readonly unknown[]>) => {
    const from = performance.now();
    expect(await pull).toHaveLength(1);
    return performance.now() - from;
  };

  afterEach(async () => {
    for (const end of open.splice(0).reverse()) await end();
    await plainly(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  });

  describe('who waits for a message', () => {
    it('hears at once what another process sends', async () => {
      const [one, other] = [await opened(), await opened()];
      expect(one.listens).toBe(true);
      const subscription = await subscribed(one, 'q');
      const pull = subscription.pull(10, NO_SIGNAL);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await other.publish('q', [{ body: null }]);
      expect(await cameAfterMs(pull)).toBeLessThan(500);
    });

    it('finds what was written past us', async () => {
      const one = await opened();
      const subscription = await subscribed(one, 'q');
      const pull = subscription.pull(10, NO_SIGNAL);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await plainly(
        url,
        `INSERT INTO ${schema}.messages (queue, visible_at, first_seen, id) SELECT id, 0, 0, 'm' FROM ${schema}.queues`,
      );
      expect(await cameAfterMs(pull)).toBeLessThan(2_000);
    });

    it('listens again after its connection was cut', async () => {
      const detour = await detourTo(url);
      const one = await opened({ url: through(detour, url) });
      const subscription = await subscribed(one, 'q');
      detour.cut();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const pull = subscription.pull(10, NO_SIGNAL);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await (await opened()).publish('q', [{ body: null }]);
      expect(await cameAfterMs(pull)).toBeLessThan(500);
      open.unshift(() => detour.block());
    });

    it('looks now and then behind a pooler that shares connections, and prepares no statements there', async () => {
      const named: string[] = [];
      const shared = sharing(
        await openPool({ url, connections: 4, connectTimeoutMs: 5_000, statementTimeoutMs: 5_000 }),
        named,
      );
      open.push(() => shared.end());
      const one = await opened({ pool: shared });
      expect(one.listens).toBe(false);
      const subscription = await subscribed(one, 'q');
      const pull = subscription.pull(10, NO_SIGNAL);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await (await opened()).publish('q', [{ body: null }]);
      expect(await cameAfterMs(pull)).toBeLessThan(1_000);
      expect(named).toEqual([]);
    });
  });
});

/** A pool as it looks through a pooler in transaction mode: nothing that one statement leaves behind is there for the next. */
function sharing(pool: PgPool, named: string[]): PgPool {
  return {
    query: (query) => pool.query(query),
    end: () => pool.end(),
    connect: async () => ({
      query: (query) => {
        if (query.name !== undefined) named.push(query.name);
        return pool.query(query);
      },
      on: () => undefined,
      release: () => undefined,
    }),
  };
}
