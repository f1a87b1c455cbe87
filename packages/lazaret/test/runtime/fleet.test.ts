import { describe, expect, it } from 'vitest';
import type { QueueOptions } from '../../src/index.ts';
import { faultyStore } from './faulty-store.ts';
import { Deferred, over, scene } from './scene.ts';

type Stage = ReturnType<typeof scene>;

const WHY = { why: 'a test' };

/** One process of the queue, with what it started and runs. */
async function join(
  stage: Stage,
  options: QueueOptions<unknown>,
  handle: (id: string) => Promise<void> | void = () => undefined,
) {
  let store!: ReturnType<typeof faultyStore>;
  const process = stage.process('1s', (broker) => {
    store = faultyStore(broker.shared!, stage.system);
    return over(broker, { shared: store.shared });
  });
  const starts: number[] = [];
  const here = { ...process, store: () => store, starts, running: 0, most: 0 };
  process.app.consume('orders', options, async ({ id }) => {
    starts.push(stage.now());
    here.running++;
    here.most = Math.max(here.most, here.running);
    try {
      await handle(id!);
    } finally {
      here.running--;
    }
  });
  await stage.run(process.app.start());
  return here;
}

async function fill(stage: Stage, count: number, first = 0) {
  const { app } = stage.process();
  for (let n = first; n < first + count; n++) await app.send('orders', n, { id: `m-${n}` });
  await stage.run(app.stop());
}

const between = (starts: readonly number[], from: number, to: number) =>
  starts.filter((at) => at >= from && at < to).length;
const wait = (stage: Stage, ms: number) => new Promise<void>((resolve) => void stage.system.after(ms, resolve));

describe('a rate over several processes', () => {
  const OPTIONS = { rateLimit: '100/s', concurrency: 50 };

  it('holds for all together, and each gets its share', async () => {
    const stage = scene();
    await fill(stage, 3_000);
    const all = [await join(stage, OPTIONS), await join(stage, OPTIONS), await join(stage, OPTIONS)];
    await stage.system.advance(10_000);
    const counts = all.map(({ starts }) => between(starts, 1_000, 10_000));
    const total = counts.reduce((sum, count) => sum + count);
    expect(all.flatMap(({ starts }) => starts).length).toBeLessThanOrEqual(25 + 1_000);
    expect(total).toBeGreaterThan(860);
    for (const count of counts) expect(count).toBeGreaterThan(total / 3 - 60);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it('is all for the one that is busy', async () => {
    const stage = scene();
    const idle = await join(stage, { ...OPTIONS, concurrency: 1 }, () => wait(stage, 3_600_000));
    await fill(stage, 1);
    await stage.system.advance(2_000);
    const busy = await join(stage, OPTIONS);
    await stage.system.advance(2_000);
    await fill(stage, 2_000, 1);
    const from = stage.now();
    await stage.system.advance(6_000);
    expect(between(busy.starts, from + 1_000, from + 6_000)).toBeGreaterThan(450);
    for (const { app } of [idle, busy]) await stage.run(app.stop(), 30_000);
  });

  it('goes to the others when a process dies', async () => {
    const stage = scene();
    await fill(stage, 3_000);
    const [one, two] = [await join(stage, OPTIONS), await join(stage, OPTIONS)];
    await stage.system.advance(5_000);
    one.kill();
    const from = stage.now();
    await stage.system.advance(5_000);
    expect(between(two.starts, from + 1_500, from + 5_000)).toBeGreaterThan(320);
    expect(between([...one.starts, ...two.starts], 0, from) + between(two.starts, from, from + 5_000)).toBeLessThan(
      1_030,
    );
    await stage.run(two.app.stop(), 5_000);
  });

  it('may be slower than one message in a slice', async () => {
    const stage = scene();
    await fill(stage, 100);
    const all = [await join(stage, { rateLimit: '2/s' }), await join(stage, { rateLimit: '2/s' })];
    await stage.system.advance(20_000);
    const started = all.flatMap(({ starts }) => starts).length;
    expect(started).toBeLessThanOrEqual(41);
    expect(started).toBeGreaterThan(34);
    for (const { starts } of all) expect(starts.length).toBeGreaterThan(10);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it('is what a person says, for all together', async () => {
    const stage = scene();
    await fill(stage, 2_000);
    const all = [await join(stage, OPTIONS), await join(stage, OPTIONS)];
    await stage.system.advance(2_000);
    await stage.run(all[0]!.app.limit('orders', { rate: '20/s', ...WHY }));
    await stage.system.advance(2_000);
    const from = stage.now();
    await stage.system.advance(10_000);
    const started = between(
      all.flatMap(({ starts }) => starts),
      from,
      from + 10_000,
    );
    expect(started).toBeLessThanOrEqual(210);
    expect(started).toBeGreaterThan(180);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it.each(['away', 'hangs'] as const)(
    'is halved while the store is %s, told once, and whole again after',
    async (fault) => {
      const stage = scene();
      await fill(stage, 5_000);
      const all = [await join(stage, OPTIONS), await join(stage, OPTIONS)];
      await stage.system.advance(6_000);
      for (const { store } of all) store().fault = fault;
      await stage.system.advance(2_000);
      const from = stage.now();
      await stage.system.advance(10_000);
      const started = between(
        all.flatMap(({ starts }) => starts),
        from,
        from + 10_000,
      );
      expect(started).toBeGreaterThan(400);
      expect(started).toBeLessThan(600);
      expect(stage.of('trouble').map(({ verb }) => verb)).toEqual(['orders', 'orders']);
      if (fault === 'away') {
        for (const { store } of all) store().fault = 'none';
        await stage.system.advance(3_000);
        const back = stage.now();
        await stage.system.advance(5_000);
        expect(
          between(
            all.flatMap(({ starts }) => starts),
            back,
            back + 5_000,
          ),
        ).toBeGreaterThan(450);
      }
      for (const { app } of all) await stage.run(app.stop(), 30_000);
    },
  );

  it.each(['slow', 'lateSwaps', 'lostReplies'] as const)(
    'is never exceeded by a store with %s, and messages flow',
    async (fault) => {
      const stage = scene();
      await fill(stage, 5_000);
      const all = [await join(stage, OPTIONS), await join(stage, OPTIONS)];
      for (const { store } of all) store().fault = fault;
      await stage.system.advance(20_000);
      const starts = all.flatMap((one) => one.starts);
      expect(starts.length).toBeLessThanOrEqual(2_050);
      const flow = Array.from({ length: 16 }, (_, n) => between(starts, 4_000 + n * 1_000, 5_000 + n * 1_000));
      expect(Math.min(...flow)).toBeGreaterThan(20);
      for (const { app } of all) await stage.run(app.stop(), 30_000);
    },
  );
});

describe('a concurrency over several processes', () => {
  const OPTIONS = { globalConcurrency: 10, concurrency: 10 };

  it('holds for all together, and each gets its share', async () => {
    const stage = scene();
    await fill(stage, 3_000);
    let running = 0;
    let most = 0;
    const handle = async () => {
      most = Math.max(most, ++running);
      await wait(stage, 100);
      running--;
    };
    const one = await join(stage, OPTIONS, handle);
    await stage.system.advance(1_000);
    const two = await join(stage, OPTIONS, handle);
    await stage.system.advance(10_000);
    expect(most).toBe(10);
    expect(between(two.starts, 4_000, 11_000)).toBeGreaterThan(300);
    expect(between(one.starts, 4_000, 11_000)).toBeGreaterThan(300);
    one.kill();
    const from = stage.now();
    running = two.running;
    await stage.system.advance(10_000);
    expect(between(two.starts, from + 5_500, from + 10_000)).toBeGreaterThan(400);
    await stage.run(two.app.stop(), 5_000);
  });

  it('goes round where there are more processes than may run', async () => {
    const stage = scene();
    await fill(stage, 3_000);
    let running = 0;
    let most = 0;
    const handle = async () => {
      most = Math.max(most, ++running);
      await wait(stage, 50);
      running--;
    };
    const all = [];
    for (let n = 0; n < 3; n++) all.push(await join(stage, { globalConcurrency: 1 }, handle));
    await stage.system.advance(60_000);
    expect(most).toBe(1);
    for (const { starts } of all) expect(starts.length).toBeGreaterThan(150);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it('is all for the one that is busy, at once when the other stops', async () => {
    const stage = scene();
    const handle = () => wait(stage, 100);
    const [idle, busy] = [await join(stage, OPTIONS, handle), await join(stage, OPTIONS, handle)];
    await stage.system.advance(3_000);
    await stage.run(idle.app.stop(), 50);
    await fill(stage, 1_000);
    // A lease that nobody gave back would hold for three seconds more.
    await stage.system.advance(2_500);
    expect(busy.most).toBe(10);
    await stage.run(busy.app.stop(), 5_000);
  });

  it('is halved while the store is away, once its lease is over', async () => {
    const stage = scene();
    await fill(stage, 3_000);
    const one = await join(stage, OPTIONS, () => wait(stage, 100));
    await stage.system.advance(3_000);
    expect(one.most).toBe(10);
    one.store().fault = 'away';
    await stage.system.advance(6_000);
    one.most = 0;
    await stage.system.advance(10_000);
    expect(one.most).toBe(5);
    one.store().fault = 'none';
    await stage.system.advance(5_000);
    expect(one.most).toBe(10);
    await stage.run(one.app.stop(), 5_000);
  });

  it('is refused where the processes share nothing', async () => {
    const stage = scene();
    const { app } = stage.process('1s', (broker) => over(broker, { shared: undefined as never }));
    app.consume('orders', OPTIONS, () => undefined);
    await expect(app.start()).rejects.toMatchObject({ code: 'LZ1004' });
  });
});

describe('breakers over several processes', () => {
  const DOWN = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  /** A dependency that several processes call, each by its own line. */
  function payments(stage: Stage) {
    const seen = { isDown: false, calls: [] as { at: number; by: string }[] };
    const call =
      (by: string, isDown = () => seen.isDown) =>
      async () => {
        seen.calls.push({ at: stage.now(), by });
        await wait(stage, 20);
        if (isDown()) throw DOWN;
      };
    return { seen, call };
  }

  it('open with the first that finds out, probe one at a time, and ramp together', async () => {
    const stage = scene();
    const { seen, call } = payments(stage);
    const options = { concurrency: 5, backoff: ['30s'] };
    const all = [];
    for (const by of ['a', 'b', 'c', 'd']) all.push(await join(stage, options, call(by)));
    await stage.system.advance(2_000);
    seen.isDown = true;
    await fill(stage, 400);
    await stage.system.advance(3_000);
    for (const { app } of all) expect(app.health().queues.orders!.storm.scopes[0]!.breaker.state).toBe('open');
    expect(
      stage.of('breaker').filter(({ state, learned }) => state === 'open' && learned === true).length,
    ).toBeGreaterThan(1);
    const opened = seen.calls.length;
    await stage.system.advance(60_000);
    const probes = seen.calls.slice(opened);
    // Every 5, 10, 20 s one: not one of each.
    expect(probes.length).toBeGreaterThanOrEqual(3);
    expect(probes.length).toBeLessThanOrEqual(9);
    seen.isDown = false;
    await stage.system.advance(40_000);
    for (const { app } of all) expect(app.health().queues.orders!.storm.scopes[0]!.breaker.state).toBe('closed');
    expect(stage.of('done')).toHaveLength(400);
    expect(stage.of('quarantined')).toEqual([]);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it('are not opened by one that is ill where another does well', async () => {
    const stage = scene();
    const { call } = payments(stage);
    const well = await join(stage, { concurrency: 5 }, call('well'));
    const ill = await join(
      stage,
      { concurrency: 5, backoff: ['10s'] },
      call('ill', () => true),
    );
    const sending = (async () => {
      const { app } = stage.process();
      for (let n = 0; n < 2_000; n++) {
        await app.send('orders', n, { id: `m-${n}` });
        await wait(stage, 10);
      }
    })();
    await stage.system.advance(20_000);
    expect(ill.app.health().queues.orders!.storm.scopes[0]!.breaker.state).not.toBe('closed');
    expect(well.app.health().queues.orders!.storm.scopes[0]!.breaker.state).toBe('closed');
    await stage.system.advance(10_000);
    await sending;
    for (const { app } of [well, ill]) await stage.run(app.stop(), 5_000);
  });

  it('live by themselves while the store is away', async () => {
    const stage = scene();
    const { seen, call } = payments(stage);
    const all = [];
    for (const by of ['a', 'b']) all.push(await join(stage, { concurrency: 5, backoff: ['30s'] }, call(by)));
    for (const { store } of all) store().fault = 'away';
    await stage.system.advance(2_000);
    seen.isDown = true;
    await fill(stage, 400);
    await stage.system.advance(30_000);
    expect(stage.of('breaker').filter(({ learned }) => learned === true)).toEqual([]);
    seen.isDown = false;
    await stage.system.advance(60_000);
    expect(stage.of('done')).toHaveLength(400);
    for (const { app } of all) await stage.run(app.stop(), 5_000);
  });

  it('hand the probe on when the process that has it dies', async () => {
    const stage = scene();
    const { seen, call } = payments(stage);
    const hangs = new Deferred();
    let dies: Awaited<ReturnType<typeof join>> | undefined;
    const options = { concurrency: 5, backoff: ['30s'] };
    const processes = new Map<string, Awaited<ReturnType<typeof join>>>();
    for (const by of ['a', 'b']) {
      const next = call(by);
      processes.set(
        by,
        await join(stage, options, async () => {
          const opened = stage.of('breaker').some(({ state }) => state === 'half-open');
          if (opened && dies === undefined) {
            dies = processes.get(by);
            dies!.kill();
            await hangs.promise;
          }
          await next();
        }),
      );
    }
    seen.isDown = true;
    await fill(stage, 100);
    await stage.system.advance(20_000);
    expect(dies).toBeDefined();
    seen.isDown = false;
    const from = stage.now();
    const other = [...processes.values()].find((one) => one !== dies)!;
    await stage.system.advance(40_000);
    expect(between(other.starts, from, from + 40_000)).toBeGreaterThan(0);
    hangs.resolve();
    await stage.run(other.app.stop(), 5_000);
  });
});
