import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/index.ts';
import { Deferred, SHAPES, scene } from './scene.ts';

describe.each(SHAPES)('what a handler says by name on a %s', (shape) => {
  async function said(handler: (ctx: Context) => unknown) {
    const { system, process, of, now } = scene({ shape });
    const { app } = process();
    const starts: number[] = [];
    app.consume('orders', { jitter: 'none' }, (_, ctx) => {
      starts.push(now());
      return handler(ctx);
    });
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(3_600_000);
    await app.stop();
    return { starts, of };
  }

  it('skip acknowledges, and says why', async () => {
    const { of } = await said((ctx) => ctx.skip('known already'));
    expect(of('done')).toMatchObject([{ id: 'm', skipped: 'known already' }]);
  });

  it('quarantine puts it away by hand', async () => {
    const { of } = await said((ctx) => ctx.quarantine('needs a person'));
    expect(of('quarantined')).toMatchObject([{ id: 'm', reason: 'manual', why: 'needs a person' }]);
  });

  it('retryIn comes back after the time that was asked for, and ends at maxAttempts', async () => {
    const { starts, of } = await said((ctx) => ctx.retryIn('5m', 'not yet'));
    expect(starts.map((at) => at - starts[0]!)).toEqual([0, 300_000, 600_000, 900_000]);
    expect(of('quarantined')).toMatchObject([{ reason: 'exhausted', why: 'not yet' }]);
  });

  it('a throw after skip is not acknowledged', async () => {
    const { starts, of } = await said((ctx) => {
      ctx.skip('done before');
      throw new Error('or was it?');
    });
    expect(starts).toHaveLength(4);
    expect(of('done')).toEqual([]);
  });

  it('a throw after quarantine does not take the word back', async () => {
    const { starts, of } = await said((ctx) => {
      ctx.quarantine('needs a person');
      throw new Error('out of here');
    });
    expect(starts).toHaveLength(1);
    expect(of('quarantined')).toMatchObject([{ reason: 'manual' }]);
  });

  it('a second word is refused with LZ1204', async () => {
    let refused: unknown;
    await said((ctx) => {
      ctx.skip('one');
      try {
        ctx.quarantine('two');
      } catch (thrown) {
        refused = thrown;
      }
    });
    expect(refused).toMatchObject({ code: 'LZ1204' });
  });
});

describe('deadlines', () => {
  it('a handler that never settles is given up at its deadline, charged, and quarantined as handler-timeout in the end', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.consume(
      'orders',
      { timeout: '1m', visibilityTimeout: '30s', jitter: 'none', maxAttempts: 2, backoff: ['2s'] },
      () => new Promise(() => {}),
    );
    await app.start();
    await app.send('orders', 1, { id: 'stuck' });
    await system.advance(60_000);
    expect(of('abandoned')).toMatchObject([{ id: 'stuck' }]);
    await system.advance(70_000);
    expect(of('quarantined')).toMatchObject([{ id: 'stuck', attempt: 2, reason: 'handler-timeout' }]);
    await app.stop({ within: '1s' }).catch(() => {});
  });

  it('what a given-up handler does later changes nothing, even when the message runs here again', async () => {
    const { system, process, of } = scene({ shape: 'channel' });
    const { app } = process();
    const first = new Deferred();
    let runs = 0;
    app.consume('orders', { timeout: '10s', jitter: 'none' }, () =>
      ++runs === 1 ? first.promise : new Promise(() => {}),
    );
    await app.start();
    await app.send('orders', 1, { id: 'slow' });
    await system.advance(12_500);
    expect(runs).toBe(2);
    first.resolve();
    await system.settle();
    expect(of('done')).toEqual([]);
    expect(app.health().queues.orders).toMatchObject({ running: 1, abandoned: 0 });
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });

  it('stops pulling and turns red when as many handlers are abandoned as may run', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.consume('orders', { concurrency: 2, timeout: '10s', maxAttempts: 1 }, () => new Promise(() => {}));
    await app.start();
    for (let n = 0; n < 5; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(60_000);
    expect(of('quarantined')).toHaveLength(2);
    expect(app.health()).toMatchObject({ ok: false, queues: { orders: { abandoned: 2, running: 0 } } });
    const stopping = app.stop({ within: '1s' });
    await system.advance(6_000);
    await stopping;
  });

  it('extend moves the deadline', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    const work = new Deferred();
    app.consume('orders', { timeout: '10s' }, async (_, ctx) => {
      await ctx.extend('1m');
      await work.promise;
    });
    await app.start();
    await app.send('orders', 1, { id: 'long' });
    await system.advance(50_000);
    work.resolve();
    await system.advance(10);
    expect(of('done')).toMatchObject([{ id: 'long' }]);
    await app.stop();
  });
});

describe('leases', () => {
  it('a heartbeat keeps the lease of a slow handler', async () => {
    const { system, process, of } = scene();
    const one = process();
    const other = process();
    const work = new Deferred();
    let starts = 0;
    for (const { app } of [one, other]) {
      app.consume('orders', { visibilityTimeout: '30s' }, () => {
        starts++;
        return work.promise;
      });
    }
    await one.app.start();
    await other.app.start();
    await one.app.send('orders', 1, { id: 'slow' });
    await system.advance(600_000);
    work.resolve();
    await system.settle();
    expect(starts).toBe(1);
    expect(of('done')).toHaveLength(1);
    await one.app.stop();
    await other.app.stop();
  });

  it('without a heartbeat the deadline comes before the lease ends, so that a slow handler is charged and not a crash', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    const starts: { attempt: number; strikes: number }[] = [];
    const options = { visibilityTimeout: '30s', timeout: '30s', heartbeat: false, jitter: 'none' } as const;
    app.consume('orders', options, (_, { attempt, strikes }) => {
      starts.push({ attempt, strikes });
      return new Promise((resolve) => void system.after(40_000, () => resolve(undefined)));
    });
    await app.start();
    await app.send('orders', 1, { id: 'slow' });
    await system.advance(600_000);
    expect(starts).toEqual([1, 2, 3, 4].map((attempt) => ({ attempt, strikes: 0 })));
    expect(of('lease-lost')).toEqual([]);
    expect(of('quarantined')).toMatchObject([{ id: 'slow', reason: 'handler-timeout' }]);
    await app.stop({ within: '1s' });
  });

  it('that cannot be lengthened is given up while it is ours: uncharged, and no strike', async () => {
    const { system, server, process, of } = scene();
    const { app } = process();
    const starts: { attempt: number; strikes: number }[] = [];
    const reasons: unknown[] = [];
    app.consume('orders', { visibilityTimeout: '30s' }, (_, ctx) => {
      starts.push({ attempt: ctx.attempt, strikes: ctx.strikes });
      if (starts.length > 1) return undefined;
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
      return new Promise(() => {});
    });
    server.fail('extend', new Error('no connection'), 1_000);
    await app.start();
    await app.send('orders', 1, { id: 'slow' });
    await system.advance(60_000);
    expect(starts).toEqual([
      { attempt: 1, strikes: 0 },
      { attempt: 1, strikes: 0 },
    ]);
    expect(reasons).toMatchObject([{ code: 'LZ1206' }]);
    expect(of('released')).toHaveLength(1);
    expect(of('done')).toHaveLength(1);
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });

  it('that was asked to be long is not shortened by the next heartbeat', async () => {
    const { system, server, process, of } = scene();
    const one = process();
    const other = process();
    const work = new Deferred();
    let starts = 0;
    for (const { app } of [one, other]) {
      app.consume('orders', { visibilityTimeout: '30s' }, async (_, ctx) => {
        starts++;
        await ctx.extend('10m');
        await work.promise;
      });
    }
    await one.app.start();
    await one.app.send('orders', 1, { id: 'long' });
    await system.advance(20_000);
    await other.app.start();
    server.fail('extend', new Error('no connection'), 1_000);
    await system.advance(400_000);
    work.resolve();
    await system.settle();
    expect(starts).toBe(1);
    expect(of('done')).toHaveLength(1);
    await one.app.stop({ within: '1s' });
    await other.app.stop({ within: '1s' });
  });
});

describe('a handler that was given up', () => {
  it('cannot speak for the next run, nor ask for time for it', async () => {
    const { system, process, of } = scene({ shape: 'channel' });
    const { app } = process();
    const contexts: Context[] = [];
    const second = new Deferred();
    app.consume('orders', { timeout: '10s', jitter: 'none' }, (_, ctx) => {
      contexts.push(ctx);
      return contexts.length === 1 ? new Promise(() => {}) : second.promise;
    });
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(12_500);
    const [zombie] = contexts;
    expect(() => zombie!.skip('done')).toThrow(expect.objectContaining({ code: 'LZ1204' }));
    expect(await zombie!.extend('1h')).toBe(false);
    expect([zombie!.attempt, zombie!.signal.aborted]).toEqual([1, true]);
    expect([contexts[1]!.attempt, contexts[1]!.signal.aborted]).toEqual([2, false]);
    second.resolve();
    await system.settle();
    expect(of('done')).toMatchObject([{ id: 'm', attempt: 2 }]);
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });

  it('is named with the time it really had', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.consume('orders', { timeout: '1m', maxAttempts: 1 }, async (_, ctx) => {
      await ctx.extend('10m');
      await new Promise(() => {});
    });
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(700_000);
    expect(of('quarantined')).toMatchObject([{ why: expect.stringContaining('deadline of 10m') }]);
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });
});
