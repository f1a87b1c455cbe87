import { describe, expect, it } from 'vitest';
import { isLazaretError, Poison } from '../../src/index.ts';
import { Deferred, over, SHAPES, scene } from './scene.ts';

const down = () => {
  throw Object.assign(new Error('payments: 503'), { status: 503 });
};

/** Sends `perSecond` messages a second for `seconds`, and lets time go on. */
async function flow(
  { system }: ReturnType<typeof scene>,
  app: { send(queue: string, body: unknown, options: { id: string }): Promise<void> },
  seconds: number,
  perSecond: number,
  from = 0,
  body: (n: number) => unknown = (n) => n,
) {
  let n = from;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond; i++) {
      await app.send('orders', body(n), { id: `m-${n}` });
      n++;
    }
    await system.advance(1_000);
  }
  return n;
}

describe.each(SHAPES)('storm control on a %s', (shape) => {
  it('stops pulling in an outage, quarantines nothing, and handles everything afterwards', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    let up = false;
    let calls = 0;
    app.consume('orders', () => {
      calls++;
      if (!up) down();
    });
    await app.start();
    const sent = await flow(stage, app, 300, 10);
    expect(stage.of('quarantined')).toEqual([]);
    expect(stage.of('done')).toEqual([]);
    expect(calls).toBeLessThan(120);
    expect(stage.of('breaker')[0]).toMatchObject({
      queue: 'orders',
      state: 'open',
      why: expect.stringContaining('20 of 20'),
    });
    up = true;
    await stage.system.advance(300_000);
    expect(new Set(stage.of('done').map(({ id }) => id)).size).toBe(sent);
    // The first two failed alone, as far as anybody could know.
    expect(stage.of('done').filter(({ attempt }) => attempt > 1)).toHaveLength(2);
    expect(app.health().queues.orders?.storm).toMatchObject({
      inFlight: 0,
      scopes: [{ breaker: { state: 'closed' } }],
    });
    await app.stop();
  });

  it('charges a message that fails alone, and quarantines it after its attempts', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    app.consume('orders', (message) => {
      if (message.json<number>() === 3) down();
    });
    await app.start();
    await flow(stage, app, 90, 5);
    expect(stage.of('quarantined')).toMatchObject([{ id: 'm-3', attempt: 4, reason: 'exhausted' }]);
    await app.stop();
  });

  it('hands back what was prefetched when the breaker opens, and keeps the leases of handlers that run', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    const gate = new Deferred();
    const patient = new Deferred();
    let starts = 0;
    app.consume('orders', { concurrency: 20, breaker: { minimum: 5 } }, async (message) => {
      starts++;
      if (message.json<number>() === 0) return patient.promise;
      await gate.promise;
      down();
    });
    await app.start();
    for (let n = 0; n < 60; n++) await app.send('orders', n, { id: `m-${n}` });
    await stage.system.advance(100);
    expect(starts).toBe(20);
    gate.resolve();
    await stage.system.advance(2_000);
    expect(starts).toBe(20);
    expect(stage.of('breaker')).toMatchObject([{ state: 'open' }]);
    // Everything but the one that runs is with the broker again, or waits here for its next run.
    expect(app.health().queues.orders).toMatchObject({ running: 1, waiting: 0 });
    patient.resolve();
    await stage.system.advance(10);
    expect(stage.of('done')).toMatchObject([{ id: 'm-0' }]);
    await app.stop();
  });

  it('probes with one message at a time, then lets one more run each second', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    let up = false;
    let running = 0;
    let most = 0;
    app.consume('orders', async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((done) => void stage.system.after(900, done));
      running--;
      if (!up) down();
    });
    await app.start();
    await flow(stage, app, 30, 10);
    expect(stage.of('breaker').some(({ state }) => state === 'half-open')).toBe(true);
    while (app.health().queues.orders?.storm.scopes[0]?.breaker.state !== 'open') await stage.system.advance(100);
    up = true;
    await stage.system.advance(900);
    most = 0;
    while (app.health().queues.orders?.storm.scopes[0]?.breaker.state !== 'ramping') await stage.system.advance(100);
    expect(most).toBe(1);
    await stage.system.advance(2_500);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    await stage.run(app.stop(), 30_000);
  });

  it('starts no more than the rate allows', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    const starts: number[] = [];
    app.consume('orders', { rateLimit: '20/s', concurrency: 50 }, () => void starts.push(stage.now()));
    await app.start();
    await flow(stage, app, 1, 200);
    await stage.system.advance(4_000);
    expect(starts.length).toBeGreaterThanOrEqual(95);
    expect(starts.length).toBeLessThanOrEqual(106);
    await stage.system.advance(10_000);
    expect(starts).toHaveLength(200);
    await app.stop();
  });

  it.each(['named before the start', 'named by the handler'] as const)(
    'lets messages of another dependency flow while one is down, %s',
    async (named) => {
      const stage = scene({ shape });
      const { app } = stage.process();
      const options = named === 'named before the start' ? { dependency: needs } : {};
      let calls = 0;
      app.consume('orders', options, (message, ctx) => {
        if (named === 'named by the handler') ctx.dependency(needs(message));
        if (needs(message) !== 'payments') return;
        calls++;
        down();
      });
      await app.start();
      const sent = await flow(stage, app, 120, 10);
      const done = new Set(stage.of('done').map(({ id }) => id));
      expect(done.size).toBeGreaterThanOrEqual(sent / 2 - 10);
      expect(calls).toBeLessThan(100);
      expect(stage.of('quarantined')).toEqual([]);
      expect(new Set(stage.of('breaker').map(({ dependency }) => dependency))).toEqual(new Set(['payments']));
      await app.stop();
    },
  );

  it('fuses a fingerprint that floods the quarantine, while the healthy rest flows', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    app.consume('orders', (message) => {
      if (message.json<number>() % 10 < 6) throw new Poison('coupon is unknown');
    });
    await app.start();
    const sent = await flow(stage, app, 120, 10);
    expect(stage.of('quarantined').length).toBeGreaterThanOrEqual(99);
    expect(stage.of('quarantined').length).toBeLessThanOrEqual(110);
    expect(stage.of('fused')).toMatchObject([{ queue: 'orders', why: expect.stringContaining('100') }]);
    expect(stage.of('paused')).toEqual([]);
    expect(new Set(stage.of('done').map(({ id }) => id)).size).toBeGreaterThanOrEqual(0.4 * sent - 20);
    await app.stop();
  });

  it('pauses the queue when nearly everything fails with one fingerprint, and says why', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    let calls = 0;
    app.consume('orders', () => {
      calls++;
      throw new TypeError("cannot read properties of undefined (reading 'total')");
    });
    await app.start();
    await flow(stage, app, 30, 10);
    expect(stage.of('paused')[0]).toMatchObject({ queue: 'orders', why: expect.stringContaining('20 of the last 20') });
    expect(stage.of('quarantined')).toEqual([]);
    expect(calls).toBeLessThan(60);
    await app.stop();
  });

  it('does without storm control where that is asked for', async () => {
    const stage = scene({ shape });
    const { app } = stage.process();
    app.consume('orders', { storm: false }, down);
    await app.start();
    await flow(stage, app, 1, 30);
    await stage.system.advance(120_000);
    expect(stage.of('quarantined')).toHaveLength(30);
    expect(stage.of('breaker')).toEqual([]);
    await app.stop();
  });
});

describe('storm control', () => {
  it('forgets a run that was lost', async () => {
    const stage = scene();
    const { app } = stage.process('5s', (broker) =>
      over(broker, {
        subscribe: async (queue, options) =>
          over(await broker.subscribe(queue, options), { extend: async (batch) => batch.map(() => 'lost') }),
      }),
    );
    app.consume('orders', { heartbeat: '1s' }, () => new Promise(() => {}));
    await app.start();
    await app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(100);
    expect(app.health().queues.orders?.storm.inFlight).toBe(1);
    await stage.system.advance(1_100);
    expect(stage.of('lease-lost')).toMatchObject([{ id: 'm-1' }]);
    expect(app.health().queues.orders?.storm.inFlight).toBe(0);
    await stage.run(app.stop(), 30_000);
  });

  it('gives a message back, uncharged, whose handler lets the refusal of a dependency through, also as a cause', async () => {
    const stage = scene();
    const { app } = stage.process();
    const refusals: unknown[] = [];
    app.consume('orders', { breaker: { minimum: 3 } }, (message, ctx) => {
      try {
        ctx.dependency('payments');
      } catch (refusal) {
        refusals.push(refusal);
        throw message.json<number>() % 2 === 0 ? refusal : new Error('cannot pay', { cause: refusal });
      }
      down();
    });
    await app.start();
    await flow(stage, app, 10, 5);
    expect(refusals.length).toBeGreaterThan(2);
    expect(refusals.every((refusal) => isLazaretError(refusal) && refusal.code === 'LZ1209')).toBe(true);
    // The first two failed alone, as far as anybody could know.
    expect(stage.of('retrying').length).toBe(2);
    expect(stage.of('quarantined')).toEqual([]);
    await app.stop();
  });

  it('resumes a queue whose probes name their dependency', async () => {
    const stage = scene();
    const { app } = stage.process();
    let mended = false;
    app.consume('orders', (_, ctx) => {
      ctx.dependency('payments');
      if (!mended) throw new TypeError("cannot read properties of undefined (reading 'total')");
    });
    await app.start();
    const sent = await flow(stage, app, 30, 10);
    expect(stage.of('paused').length).toBeGreaterThan(0);
    mended = true;
    await stage.system.advance(900_000);
    expect(stage.of('resumed').length).toBeGreaterThan(0);
    expect(new Set(stage.of('done').map(({ id }) => id)).size).toBe(sent);
    await app.stop();
  });

  it('runs a message whose dependency cannot be told as one that names none, and says so', async () => {
    const stage = scene();
    const { app } = stage.process();
    const wrong = { dependency: (message: { json(): unknown }) => (message.json() as { to: string }).to };
    app.consume('orders', wrong as never, () => {});
    await app.start();
    await app.send('orders', { to: 7 }, { id: 'm-1' });
    await app.send('orders', null, { id: 'm-2' });
    await stage.system.advance(100);
    expect(stage.of('done')).toHaveLength(2);
    expect(stage.of('trouble')).toMatchObject([{ verb: 'dependency' }, { verb: 'dependency' }]);
    await app.stop();
  });

  it('tells a broker that pushes to push nothing while it is open, and less where less may run', async () => {
    const stage = scene({ shape: 'channel' });
    const credits: number[] = [];
    const { app } = stage.process('5s', (broker) =>
      over(broker, {
        subscribe: async (queue, options) => {
          const subscription = await broker.subscribe(queue, options);
          return over(subscription, {
            credit: async (n) => {
              credits.push(n);
              await subscription.credit?.(n);
            },
          });
        },
      }),
    );
    let up = false;
    app.consume('orders', () => up || down());
    await app.start();
    await flow(stage, app, 20, 10);
    expect(credits).toContain(0);
    up = true;
    await stage.system.advance(60_000);
    expect(credits.at(-1)).toBeGreaterThan(0);
    expect(credits.length).toBeLessThan(20);
    await app.stop();
  });
});

function needs(message: { json(): unknown }): string {
  return (message.json() as number) % 2 === 0 ? 'payments' : 'stock';
}
