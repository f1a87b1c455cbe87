import { describe, expect, it } from 'vitest';
import type { Broker } from '../../src/ports/index.ts';
import { Deferred, over, SHAPES, scene } from './scene.ts';

describe.each(SHAPES)('stop on a %s', (shape) => {
  it('lets handlers finish, and says how many did', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    const work = new Deferred();
    app.consume('orders', () => work.promise);
    await app.start();
    for (let n = 0; n < 3; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(10);
    const stopping = app.stop({ within: '20s' });
    await system.advance(5_000);
    work.resolve();
    await system.advance(20_000);
    expect(await stopping).toEqual({ finished: 3, released: 0, abandoned: 0, unsettled: 0 });
    expect(of('done')).toHaveLength(3);
  });

  it('gives back uncharged what does not finish, within its time, and nothing is lost', async () => {
    const { system, process, of } = scene({ shape });
    const first = process();
    let aborted = false;
    first.app.consume('orders', (_, ctx) => {
      ctx.signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    });
    await first.app.start();
    await first.app.send('orders', 1, { id: 'stuck' });
    await system.advance(10);
    let counts: unknown;
    void first.app.stop({ within: '10s' }).then((stopped) => {
      counts = stopped;
    });
    await system.advance(10_000);
    expect(counts).toEqual({ finished: 0, released: 1, abandoned: 1, unsettled: 0 });
    expect(aborted).toBe(true);

    const second = process();
    const seen: number[] = [];
    second.app.consume('orders', (_, ctx) => void seen.push(ctx.attempt, ctx.strikes));
    await second.app.start();
    await system.advance(1_000);
    expect(seen).toEqual([1, 0]);
    expect(of('quarantined')).toEqual([]);
    await second.app.stop();
  });

  it('does not charge a handler that throws because the app stops', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume(
      'orders',
      (_, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
        }),
    );
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(10);
    const stopping = app.stop({ within: '10s' });
    await system.advance(10_000);
    expect(await stopping).toMatchObject({ released: 1, abandoned: 0 });
    expect(of('retrying')).toEqual([]);
  });

  it('gives back the message of a handler that returns because the app stops', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume(
      'orders',
      (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(undefined))),
    );
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(10);
    const stopping = app.stop({ within: '10s' });
    await system.advance(10_000);
    expect(await stopping).toMatchObject({ finished: 0, released: 1 });
    expect(of('done')).toEqual([]);
  });

  it('leaves no timer behind', async () => {
    const { system, process } = scene({ shape });
    const { app } = process();
    app.consume('orders', () => {});
    await app.start();
    await app.send('orders', 1);
    await system.advance(100);
    const stopping = app.stop({ within: '10s' });
    await system.advance(10_000);
    await stopping;
    expect(system.pending()).toBe(0);
  });
});

describe('an app', () => {
  it('is stopped for good: it cannot be started or sent to again', async () => {
    const { process } = scene();
    const { app } = process();
    await app.stop();
    await expect(app.start()).rejects.toMatchObject({ code: 'LZ1054' });
    await expect(app.send('orders', 1)).rejects.toMatchObject({ code: 'LZ1054' });
  });

  it('refuses to consume a queue twice, and to add one after the start', async () => {
    const { process } = scene();
    const { app } = process();
    app.consume('orders', () => {});
    expect(() => app.consume('orders', () => {})).toThrow(expect.objectContaining({ code: 'LZ1052' }));
    await app.start();
    expect(() => app.consume('images', () => {})).toThrow(expect.objectContaining({ code: 'LZ1054' }));
    await app.stop();
  });

  it('refuses an isolated consumer without a module, and a handler file without isolation', () => {
    const { process } = scene();
    const { app } = process();
    // @ts-expect-error: a closure cannot be isolated
    expect(() => app.consume('orders', { isolate: 'process' }, () => {})).toThrow(
      expect.objectContaining({ code: 'LZ1004' }),
    );
  });

  it('stop before start closes nothing and counts nothing', async () => {
    const { process } = scene();
    expect(await process().app.stop()).toEqual({ finished: 0, released: 0, abandoned: 0, unsettled: 0 });
  });
});

describe('stop is bounded', () => {
  const hanging = (broker: Broker, verb: 'close'): Broker => over(broker, { [verb]: () => new Promise(() => {}) });

  it('by within, also when the connection does not close', async () => {
    const { system, process, of, now } = scene();
    const { app } = process('1s', (broker) => hanging(broker, 'close'));
    app.consume('orders', () => {});
    await app.start();
    const began = now();
    let stoppedAt = Number.POSITIVE_INFINITY;
    void app.stop({ within: '2s' }).then(() => {
      stoppedAt = now();
    });
    await system.advance(10_000);
    expect(stoppedAt - began).toBeLessThanOrEqual(2_000);
    expect(of('trouble')).toMatchObject([{ queue: undefined, verb: 'close' }]);
  });

  it('while it starts: nothing is consumed afterwards', async () => {
    const { system, process, of } = scene();
    const gate = new Deferred();
    const { app } = process('1s', (broker) =>
      over(broker, {
        subscribe: async (queue, options) => {
          await gate.promise;
          return broker.subscribe(queue, options);
        },
      }),
    );
    app.consume('orders', () => {});
    const starting = app.start();
    const outcome = starting.then(
      () => 'started',
      (thrown) => thrown.code,
    );
    await system.advance(10);
    const stopping = app.stop({ within: '2s' });
    await system.advance(3_000);
    await stopping;
    gate.resolve();
    await system.advance(3_000);
    expect(await outcome).toBe('LZ1054');
    const other = process();
    await other.app.send('orders', 1);
    await system.advance(5_000);
    expect(of('done')).toEqual([]);
    expect(system.pending()).toBe(0);
  });

  it('and leaves nothing that is said again, where nobody answered', async () => {
    const { system, server, process } = scene({ shape: 'channel' });
    const { app } = process('1s');
    app.consume('orders', () => {});
    await app.start();
    server.fail('settle', new Error('no connection'), 1_000);
    await app.send('orders', 1);
    await system.advance(500);
    const stopping = app.stop({ within: '2s' });
    await system.advance(2_000);
    expect(await stopping).toMatchObject({ unsettled: 1 });
    await system.advance(60_000);
    expect(system.pending()).toBe(0);
  });
});

describe('a held message at stop', () => {
  it('keeps what is left of its wait, and its charge', async () => {
    const { system, process, now } = scene({ shape: 'channel' });
    const first = process('1s');
    const starts: { at: number; attempt: number }[] = [];
    const handler = (_: unknown, ctx: { attempt: number }) => {
      starts.push({ at: now(), attempt: ctx.attempt });
      throw new Error('not yet');
    };
    first.app.consume('orders', { jitter: 'none', backoff: ['8s'], maxAttempts: 2 }, handler);
    await first.app.start();
    await first.app.send('orders', 1, { id: 'm' });
    await system.advance(3_000);
    const stopping = first.app.stop({ within: '2s' });
    await system.advance(2_000);
    await stopping;
    const second = process('1s');
    second.app.consume('orders', { jitter: 'none', backoff: ['8s'], maxAttempts: 2 }, handler);
    await second.app.start();
    await system.advance(20_000);
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(starts[1]!.at - starts[0]!.at).toBeGreaterThanOrEqual(8_000);
    await second.app.stop();
  });
});
