import { describe, expect, it } from 'vitest';
import { Poison } from '../../src/index.ts';
import type { Delivery } from '../../src/ports/index.ts';
import { over, scene } from './scene.ts';

/** A failing key blocks only itself. */
describe.each(['table', 'log'] as const)("ordering: 'key' on a %s", (shape) => {
  it('runs the messages of one key one after another and those of other keys beside them', async () => {
    const { system, process } = scene({ shape });
    const { app } = process();
    const ended: string[] = [];
    let together = 0;
    let most = 0;
    app.consume('orders', { ordering: 'key' }, async (message) => {
      most = Math.max(most, ++together);
      await new Promise<void>((resolve) => void system.after(100, resolve));
      together--;
      ended.push(message.id!);
    });
    await app.start();
    for (const id of ['a1', 'b1', 'a2', 'b2', 'a3', 'c1']) await app.send('orders', id, { id, key: id[0]! });
    await system.advance(2_000);
    for (const key of ['a', 'b', 'c']) {
      const own = ended.filter((id) => id.startsWith(key));
      expect(own).toEqual([...own].sort());
    }
    expect(ended).toHaveLength(6);
    expect(most).toBe(3);
    await app.stop();
  });

  it('lets the successors of a failing message wait behind its retry, while other keys go on', async () => {
    const { system, process, now } = scene({ shape });
    const { app } = process();
    const log: string[] = [];
    app.consume('orders', { ordering: 'key', jitter: 'none' }, (message, ctx) => {
      log.push(`${message.id}@${now()}`);
      if (message.id === 'a1' && ctx.attempt < 3) throw new Error('not yet');
    });
    await app.start();
    for (const id of ['a1', 'a2', 'b1', 'a3', 'b2']) await app.send('orders', id, { id, key: id[0]! });
    await system.advance(60_000);
    const order = log.map((line) => line.split('@')[0]!);
    expect(order.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a1', 'a1', 'a2', 'a3']);
    expect(order.indexOf('b2')).toBeLessThan(order.lastIndexOf('a1'));
    await app.stop();
  });

  it('parks the successors of a dead message with it, as blocked-key, and leaves other keys alone', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume('orders', { ordering: 'key' }, (message) => {
      if (message.id === 'a1') throw new Poison('broken');
    });
    await app.start();
    for (const id of ['a1', 'a2', 'b1', 'a3', 'b2']) await app.send('orders', id, { id, key: id[0]! });
    await system.advance(5_000);
    await app.send('orders', 'a4', { id: 'a4', key: 'a' });
    await system.advance(5_000);
    expect(
      of('quarantined')
        .map(({ id, reason }) => `${id} ${reason}`)
        .sort(),
    ).toEqual(['a1 poison', 'a2 blocked-key', 'a3 blocked-key', 'a4 blocked-key']);
    expect(
      of('done')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['b1', 'b2']);
    await app.stop();
  });

  it('parks no more of a dead key than it may: the rest waits in the queue', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume('orders', { ordering: 'key', parking: { quarantine: 2 } }, (message) => {
      if (message.id === 'a0') throw new Poison('broken');
    });
    await app.start();
    for (let n = 0; n < 10; n++) await app.send('orders', n, { id: `a${n}`, key: 'a' });
    await system.advance(20_000);
    expect(of('quarantined')).toHaveLength(3);
    expect(of('done')).toEqual([]);
    const stopping = app.stop();
    await system.advance(25_000);
    await stopping;
  });
});

describe('ordering where a broker has none', () => {
  it('refuses to start, and names the ways out', async () => {
    const { process } = scene({ shape: 'channel' });
    const { app } = process();
    app.consume('orders', { ordering: 'key' }, () => {});
    await expect(app.start()).rejects.toMatchObject({ code: 'LZ1051' });
  });
});

describe('what is lost together', () => {
  it.each([
    ['behind its key', { ordering: 'key' }],
    ['for a slot', { concurrency: 1 }],
  ] as const)(
    'goes together: nothing that waited %s is started, or given back, when what was before it is gone',
    async (_, options) => {
      const { system, process, of } = scene({ shape: 'table' });
      const started: unknown[] = [];
      let lose: (deliveries: readonly Delivery[]) => void = () => {};
      const deliveries = ['a1', 'a2', 'a3'].map(
        (id): Delivery => ({
          message: { id, key: 'a', body: null, headers: [] },
          source: { queue: 'orders' },
          receipt: { id },
          attempt: 1,
          firstSeenAt: 0,
        }),
      );
      const { app } = process('1s', (broker) =>
        over(broker, {
          subscribe: async (queue, wanted) => {
            lose = wanted.lost;
            const subscription = await broker.subscribe(queue, wanted);
            let pulls = 0;
            return {
              capabilities: subscription.capabilities,
              pull: (max, signal) => (pulls++ === 0 ? Promise.resolve(deliveries) : subscription.pull(max, signal)),
              settle: async (batch) => batch.map(() => 'done' as const),
              extend: async (batch) => batch.map(() => 'done' as const),
              close: () => subscription.close(),
            };
          },
        }),
      );
      app.consume('orders', options, (message) => {
        started.push(message.id);
        return new Promise(() => {});
      });
      await app.start();
      await system.advance(10);
      lose(deliveries);
      await system.advance(10_000);
      expect(started).toEqual(['a1']);
      expect(of('lease-lost').map(({ id }) => id)).toEqual(['a1', 'a2', 'a3']);
      expect(of('released')).toEqual([]);
      const stopping = app.stop({ within: '1s' });
      await system.advance(1_000);
      await stopping;
    },
  );
});
