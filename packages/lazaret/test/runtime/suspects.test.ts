import { describe, expect, it } from 'vitest';
import type { Broker, Subscription } from '../../src/ports/index.ts';
import { Deferred, over, scene } from './scene.ts';

/** `change` is applied to every subscription that `broker` gives. */
function subscribing(broker: Broker, change: (subscription: Subscription) => Partial<Subscription>): Broker {
  return over(broker, {
    subscribe: async (queue, options) => {
      const subscription = await broker.subscribe(queue, options);
      return over(subscription, change(subscription));
    },
  });
}

const OPTIONS = { visibilityTimeout: '10s', timeout: '10s', heartbeat: '5s' } as const;

/** A table on which `bad` has lost two owners; it can be had in `soonMs`. */
async function withSuspect(soonMs = 0) {
  const stage = scene({ shape: 'table' });
  const { system, process } = stage;
  await process().app.send('orders', 1, { id: 'bad' });
  for (let n = 0; n < 2; n++) {
    const owner = process();
    owner.app.consume('orders', OPTIONS, () => new Promise(() => {}));
    await owner.app.start();
    await system.advance(100);
    owner.kill();
    await system.advance(n === 0 ? 10_000 : 9_900 - soonMs);
  }
  return stage;
}

describe('suspects', () => {
  it('are asked for again when the broker did not answer', async () => {
    const { system, process, of } = await withSuspect();
    let refusals = 2;
    const { app } = process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        alone: async (signal) => {
          if (refusals-- > 0) throw new Error('read ECONNRESET');
          return subscription.alone!(signal);
        },
      })),
    );
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    await system.advance(60_000);
    expect(of('trouble').map(({ verb }) => verb)).toEqual(['alone', 'alone']);
    expect(of('done')).toMatchObject([{ id: 'bad' }]);
    await app.stop();
  });

  it('are asked for again when none was to be had, as long as the broker counts some', async () => {
    const { system, process, of } = await withSuspect();
    let elsewhere = true;
    const { app } = process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        alone: async (signal) => (elsewhere ? undefined : subscription.alone!(signal)),
      })),
    );
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    await system.advance(5_000);
    elsewhere = false;
    await system.advance(60_000);
    expect(of('done')).toMatchObject([{ id: 'bad' }]);
    await app.stop();
  });

  it('do not keep others waiting for ever when they cannot be had', async () => {
    const { system, process, of } = await withSuspect();
    const { app } = process('1s', (broker) => subscribing(broker, () => ({ alone: async () => undefined })));
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    for (let n = 0; n < 20; n++) {
      await app.send('orders', n, { id: `m-${n}` });
      await system.advance(1_000);
    }
    expect(of('done')).toHaveLength(20);
    await app.stop();
  });

  it('wait at most 30 s at a time for a long handler elsewhere, and others go on in between', async () => {
    const { system, process, of } = await withSuspect(1_000);
    const { app } = process('1s');
    const long = new Deferred();
    app.consume('orders', { ...OPTIONS, visibilityTimeout: '10m', timeout: '10m', heartbeat: '1m' }, () => {});
    app.consume('images', { timeout: '1h' }, () => long.promise);
    await app.send('images', 1, { id: 'long' });
    await app.start();
    await system.advance(40_000);
    await app.send('orders', 1, { id: 'healthy' });
    await system.advance(100);
    expect(of('done').map(({ id }) => id)).toEqual(['healthy']);
    long.resolve();
    await system.advance(120_000);
    expect(of('done').map(({ id }) => id)).toEqual(['healthy', 'long', 'bad']);
    await app.stop();
  });

  it('that are held for their order run alone again, not beside others', async () => {
    const { system, process, of } = scene({ shape: 'channel', singleActive: true });
    const sender = process();
    await sender.app.send('orders', 1, { id: 'bad' });
    for (let n = 0; n < 2; n++) {
      const owner = process();
      owner.app.consume('orders', { ordering: 'key' }, () => new Promise(() => {}));
      await owner.app.start();
      await system.advance(100);
      owner.kill();
      await system.advance(1_000);
    }
    const { app } = process('1s');
    let running = 0;
    const beside: number[] = [];
    app.consume('orders', { jitter: 'none', ordering: 'key' }, async (message, ctx) => {
      if (message.id === 'bad') {
        beside.push(running);
        if (ctx.attempt === 1) throw new Error('not yet');
        return;
      }
      running++;
      await new Promise<void>((resolve) => void system.after(700, resolve));
      running--;
    });
    await app.start();
    for (let n = 0; n < 40; n++) {
      await sender.app.send('orders', n, { id: `m-${n}` });
      await system.advance(250);
    }
    await system.advance(60_000);
    expect(of('retrying')).toMatchObject([{ id: 'bad', held: true }]);
    expect(beside).toEqual([0, 0]);
    await app.stop();
  });

  it('that failed alone are given back at once where a kill would be counted as theirs', async () => {
    const { system, process, of } = scene({ shape: 'channel' });
    const sender = process();
    await sender.app.send('orders', 1, { id: 'bad' });
    for (let n = 0; n < 2; n++) {
      const owner = process();
      owner.app.consume('orders', () => new Promise(() => {}));
      await owner.app.start();
      await system.advance(100);
      owner.kill();
      await system.advance(1_000);
    }
    const failing = process('1s');
    failing.app.consume('orders', () => {
      throw new Error('not yet');
    });
    await failing.app.start();
    await system.advance(1_500);
    expect(of('running-alone')).toMatchObject([{ id: 'bad' }]);
    failing.kill();
    const next = process('1s');
    const seen: (readonly [attempt: number, strikes: number])[] = [];
    next.app.consume('orders', (_, { attempt, strikes }) => void seen.push([attempt, strikes]));
    await next.app.start();
    await system.advance(60_000);
    expect(seen).toEqual([[2, 0]]);
    await next.app.stop();
  });

  it('are not run by an app that stops', async () => {
    const { system, process, of } = await withSuspect(1_000);
    const { app } = process('1s');
    const work = new Deferred();
    app.consume('images', () => work.promise);
    app.consume('orders', OPTIONS, () => {});
    await app.send('images', 1);
    await app.start();
    await system.advance(2_000);
    const stopping = app.stop({ within: '20s' });
    await system.advance(100);
    work.resolve();
    await system.advance(20_000);
    await stopping;
    expect(of('running-alone')).toEqual([]);
  });
});
