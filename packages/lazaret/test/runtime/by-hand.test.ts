import { describe, expect, it } from 'vitest';
import { chronicleKey, readChronicle } from '../../src/core/storm/chronicle.ts';
import type { Broker, SharedState } from '../../src/ports/index.ts';
import { over, scene } from './scene.ts';

const WHY = { why: 'the warehouse is moving' };

async function started(stage: ReturnType<typeof scene>, wrap?: Parameters<ReturnType<typeof scene>['process']>[1]) {
  const { app, broker } = stage.process('5s', wrap);
  const ran: string[] = [];
  app.consume('orders', { dependency: () => 'payments' }, (message) => void ran.push(message.id!));
  await stage.run(app.start());
  await stage.system.settle();
  return { app, broker, ran };
}

describe('by hand', () => {
  it('pauses a queue in all of its processes, at once here and within 2 s there, and lets it go on at its end', async () => {
    const stage = scene();
    const [one, two] = [await started(stage), await started(stage)];
    await one.app.pause('orders', { for: '10m', ...WHY });
    await stage.system.advance(2_000);
    await one.app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(597_000);
    expect([...one.ran, ...two.ran]).toEqual([]);
    expect(two.app.health().queues.orders).toMatchObject({
      orders: [{ want: { set: 'paused' }, why: WHY.why, by: 'the service itself' }],
      storm: { pause: { state: 'open', why: expect.stringContaining(WHY.why) } },
    });
    expect(stage.of('paused')).toMatchObject([{ why: expect.stringContaining('by hand') }, {}]);
    await stage.system.advance(3_000);
    expect([...one.ran, ...two.ran]).toEqual(['m-1']);
    for (const { app } of [one, two]) await app.stop();
  });

  it('resumes before the end, also from another process', async () => {
    const stage = scene();
    const [one, two] = [await started(stage), await started(stage)];
    await one.app.pause('orders', WHY);
    await stage.system.advance(2_000);
    await two.app.resume('orders', { why: 'moved' });
    await one.app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(2_000);
    expect([...one.ran, ...two.ran]).toEqual(['m-1']);
    expect(one.app.health().queues.orders?.storm.pause.state).toBe('closed');
    for (const { app } of [one, two]) await app.stop();
  });

  it('finds an order again after a restart, before the first message', async () => {
    const stage = scene();
    const one = await started(stage);
    await one.app.pause('orders', { for: '1h', ...WHY });
    await one.app.send('orders', 1, { id: 'm-1' });
    await one.app.stop();
    const two = await started(stage);
    await stage.system.advance(60_000);
    expect(two.ran).toEqual([]);
    await two.app.resume('orders', { why: 'moved' });
    await stage.system.advance(1_000);
    expect(two.ran).toEqual(['m-1']);
    await two.app.stop();
  });

  it('holds a breaker open, and lets it live by itself again', async () => {
    const stage = scene();
    const { app, ran } = await started(stage);
    await app.send('orders', 0, { id: 'm-0' });
    await stage.system.advance(100);
    await app.breaker('orders', 'open', { dependency: 'payments', ...WHY });
    await app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(60_000);
    expect(ran).toEqual(['m-0']);
    expect(stage.of('breaker')).toMatchObject([{ dependency: 'payments', state: 'open' }]);
    await app.breaker('orders', 'automatic', { dependency: 'payments', ...WHY });
    await stage.system.advance(120_000);
    expect(ran).toEqual(['m-0', 'm-1']);
    await app.stop();
  });

  it('limits for a while', async () => {
    const stage = scene();
    const { app } = stage.process();
    const starts: number[] = [];
    app.consume('orders', () => void starts.push(stage.now()));
    await stage.run(app.start());
    await app.limit('orders', { rate: '1/s', for: '20s', ...WHY });
    for (let n = 0; n < 100; n++) await app.send('orders', n, { id: `m-${n}` });
    await stage.system.advance(19_000);
    expect(starts.length).toBeGreaterThanOrEqual(18);
    expect(starts.length).toBeLessThanOrEqual(22);
    await stage.system.advance(3_000);
    expect(starts).toHaveLength(100);
    expect(stage.of('limited')).toMatchObject([{ rate: { count: 1 }, forMs: 20_000 }]);
    await app.stop();
  });

  it('tells the other processes and people how the queue stands, and what happened', async () => {
    const stage = scene();
    const { app, broker } = await started(stage);
    await app.pause('orders', { for: '5m', ...WHY, by: 'mira' });
    await stage.system.advance(6_000);
    const chronicle = readChronicle((await broker.shared!.get([chronicleKey('orders')]))[0]!.value);
    expect(chronicle.processes).toMatchObject([{ view: { pause: { state: 'open' } } }]);
    expect(chronicle.history).toMatchObject([
      { what: 'paused', why: expect.stringContaining('(mira)'), forMs: 300_000 },
    ]);
    await app.stop();
    const after = readChronicle((await stage.server.connect().shared!.get([chronicleKey('orders')]))[0]!.value);
    expect(after.processes).toEqual([]);
  });

  it('works without its store, which keeps nobody from starting', async () => {
    const stage = scene();
    const away = {
      get: async () => Promise.reject(new Error('away')),
      compareAndSwap: () => Promise.reject(new Error('away')),
    };
    const { app, ran } = await started(stage, (broker) => over(broker, { shared: away }));
    await expect(app.pause('orders', WHY)).rejects.toThrow('away');
    await app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(60_000);
    expect(ran).toEqual([]);
    expect(stage.of('trouble').every(({ verb }) => verb === 'orders')).toBe(true);
    await app.stop();
  });

  it.each<[what: string, act: (app: Awaited<ReturnType<typeof started>>['app']) => Promise<void>, code: string]>([
    ['no reason', (app) => app.pause('orders', {} as never), 'LZ1002'],
    ['an empty reason', (app) => app.pause('orders', { why: ' ' }), 'LZ1003'],
    ['too long', (app) => app.pause('orders', { for: '8d', ...WHY }), 'LZ1003'],
    ['a bare number', (app) => app.pause('orders', { for: 30 as never, ...WHY }), 'LZ1042'],
    ['an unknown option', (app) => app.pause('orders', { until: '3h', ...WHY } as never), 'LZ1001'],
    ['a state that breakers do not have', (app) => app.breaker('orders', 'ajar' as never, WHY), 'LZ1002'],
    ['no limit', (app) => app.limit('orders', WHY), 'LZ1002'],
    [
      'a rate of one dependency',
      (app) => app.limit('orders', { rate: '1/s', dependency: 'payments', ...WHY }),
      'LZ1004',
    ],
    ['an unreadable rate', (app) => app.limit('orders', { rate: 'slow', ...WHY }), 'LZ1044'],
    ['another queue', (app) => app.pause('order', WHY), 'LZ1054'],
  ])('refuses %s', async (_, act, code) => {
    const { app } = await started(scene());
    await expect(act(app)).rejects.toMatchObject({ code });
    await app.stop();
  });
});

describe('a store that is away', () => {
  /** A broker whose shared state fails, or does not answer, when it is told to. */
  function fragile() {
    const state: { is: 'here' | 'failing' | 'silent' } = { is: 'here' };
    const calls = { get: 0, compareAndSwap: 0 };
    const wrap = (broker: Broker): Broker => {
      const shared = broker.shared!;
      const through = <T>(call: () => Promise<T>): Promise<T> => {
        if (state.is === 'silent') return new Promise(() => undefined);
        return state.is === 'failing' ? Promise.reject(new Error('away')) : call();
      };
      const weak: SharedState = {
        get: (keys) => through(() => shared.get(keys)).finally(() => calls.get++),
        compareAndSwap: (...args) =>
          through(() => shared.compareAndSwap(...args)).finally(() => calls.compareAndSwap++),
      };
      return over(broker, { shared: weak });
    };
    return { state, calls, wrap };
  }

  it.each(['failing', 'silent'] as const)('keeps nobody from starting, working and stopping: %s', async (is) => {
    const stage = scene();
    const { state, wrap } = fragile();
    state.is = is;
    const { app } = stage.process('5s', wrap);
    const ran: string[] = [];
    app.consume('orders', (message) => void ran.push(message.id!));
    await stage.run(app.start(), 2_500);
    await app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(100);
    expect(ran).toEqual(['m-1']);
    app.pause('orders', WHY).catch(() => undefined);
    await app.send('orders', 2, { id: 'm-2' });
    await stage.system.advance(5_000);
    expect(ran).toEqual(['m-1']);
    await expect(stage.run(app.stop(), 30_000)).resolves.toMatchObject({ abandoned: 0, unsettled: 0 });
  });

  it('is told once, and what was ordered meanwhile holds here and reaches the others when it is back', async () => {
    const stage = scene();
    const { state, wrap } = fragile();
    const [one, two] = [await started(stage, wrap), await started(stage)];
    state.is = 'failing';
    await stage.system.advance(60_000);
    await expect(one.app.pause('orders', { for: '1h', ...WHY })).rejects.toThrow('away');
    await stage.system.advance(60_000);
    expect(stage.of('trouble')).toMatchObject([{ queue: 'orders', verb: 'orders' }]);
    expect(two.app.health().queues.orders?.orders).toEqual([]);
    state.is = 'here';
    await stage.system.advance(3_000);
    for (const { app } of [one, two]) {
      expect(app.health().queues.orders?.orders).toMatchObject([{ want: { set: 'paused' } }]);
    }
    state.is = 'failing';
    await stage.system.advance(10_000);
    expect(stage.of('trouble')).toHaveLength(2);
    for (const { app } of [one, two]) await app.stop();
  });

  it('is asked once a second and written to once in five while nothing happens, and not once more for messages', async () => {
    const stage = scene();
    const { calls, wrap } = fragile();
    const { app, ran } = await started(stage, wrap);
    await stage.system.advance(10_000);
    calls.get = calls.compareAndSwap = 0;
    await stage.system.advance(60_000);
    const idle = { ...calls };
    expect(idle.compareAndSwap).toBeLessThanOrEqual(12);
    expect(idle.get).toBeLessThanOrEqual(72);
    calls.get = calls.compareAndSwap = 0;
    for (let n = 0; n < 1_200; n++) {
      await app.send('orders', n, { id: `m-${n}` });
      await stage.system.advance(50);
    }
    expect(ran).toHaveLength(1_200);
    expect(calls).toEqual(idle);
    await app.stop();
  });
});

describe('the timetable of a queue', () => {
  it('says for whom its rate holds, as soon as the broker is known', async () => {
    const stage = scene();
    const limitsOf = async (wrap?: (broker: Broker) => Broker) => {
      const { app } = stage.process('5s', wrap);
      app.consume('orders', { rateLimit: '5/s' }, () => {});
      const before = app.describe('orders').split('\n').at(-1);
      await stage.run(app.start());
      const after = app.describe('orders').split('\n').at(-1);
      await app.stop();
      return [before, after];
    };
    expect(await limitsOf()).toEqual([
      expect.stringContaining('else in each'),
      expect.stringMatching(/all of them together$/),
    ]);
    const alone = await limitsOf((broker) => over(broker, { shared: undefined as never }));
    expect(alone[1]).toContain('in each of them (this broker shares nothing');
  });
});
