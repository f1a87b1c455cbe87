import { describe, expect, it } from 'vitest';
import { SHAPES, scene } from './scene.ts';

describe.each(SHAPES)('a broker in trouble (%s)', (shape) => {
  it('settles again what failed, and nobody above notices', async () => {
    const { system, server, process, of } = scene({ shape });
    const { app } = process();
    let runs = 0;
    app.consume('orders', () => void runs++);
    await app.start();
    server.fail(shape === 'log' ? 'commit' : 'settle', new Error('no connection'), 3);
    await app.send('orders', 1, { id: 'm' });
    await system.advance(20_000);
    expect(of('done')).toMatchObject([{ id: 'm' }]);
    expect(runs).toBe(1);
    await app.stop();
  });

  it('pulls again after failures, ever more slowly, and says so', async () => {
    const { system, server, process, of } = scene({ shape });
    const { app } = process();
    app.consume('orders', () => {});
    server.fail('pull', new Error('no connection'), 5);
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(60_000);
    expect(of('trouble').length).toBeGreaterThan(0);
    expect(of('done')).toMatchObject([{ id: 'm' }]);
    await app.stop();
  });
});

describe('settlements that fail', () => {
  it('do not stop a consumer when more fail than it may have unsettled', async () => {
    const { system, server, process, of } = scene();
    const { app } = process();
    app.consume('orders', { concurrency: 2 }, () => {});
    for (let n = 0; n < 30; n++) await app.send('orders', n, { id: `m-${n}` });
    server.fail('settle', new Error('no connection'), 12);
    await app.start();
    await system.advance(60_000);
    expect(of('done')).toHaveLength(30);
    await app.stop();
  });

  it('together are said again together', async () => {
    const { system, server, process, of } = scene();
    const { app } = process();
    app.consume('orders', { concurrency: 20 }, () => {});
    for (let n = 0; n < 15; n++) await app.send('orders', n, { id: `m-${n}` });
    server.fail('settle', new Error('no connection'), 15);
    await app.start();
    await system.advance(200);
    expect(of('done')).toHaveLength(15);
    await app.stop();
  });

  it('turn health red when they go on failing, and so do pulls', async () => {
    const { system, server, process } = scene();
    const { app } = process('1s');
    app.consume('orders', () => {});
    await app.start();
    server.fail('settle', new Error('no connection'), 10_000);
    await app.send('orders', 1);
    await system.advance(30_000);
    expect(app.health()).toMatchObject({
      ok: false,
      queues: { orders: { problems: [expect.stringContaining('settlement')] } },
    });
    server.fail('pull', new Error('no connection'), 10_000);
    await system.advance(30_000);
    expect(app.health().queues.orders!.problems).toContainEqual(expect.stringContaining('every pull has failed'));
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });
});

describe('a journal', () => {
  it('that is slow while partitions go away leaves no abandoned handlers behind', async () => {
    const { system, server, process } = scene({ shape: 'log' });
    const one = process('1s');
    one.app.consume('orders', { concurrency: 2 }, () => {});
    await one.app.start();
    for (let round = 0; round < 3; round++) {
      server.fail('commit', 'hang', 1);
      for (let n = 0; n < 4; n++) await one.app.send('orders', n);
      await system.advance(50);
      server.cut(one.broker);
      await system.advance(1_000);
    }
    await system.advance(60_000);
    expect(one.app.health()).toMatchObject({ ok: true, queues: { orders: { abandoned: 0, running: 0 } } });
    await one.app.stop({ within: '1s' });
  });
});

describe('listeners', () => {
  it('may throw without harm', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.on('done', () => {
      throw new Error('listener');
    });
    app.consume('orders', () => {});
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(100);
    expect(of('done')).toHaveLength(1);
    await app.stop();
  });

  it('end when they are told to', async () => {
    const { system, process } = scene();
    const { app } = process();
    let heard = 0;
    const end = app.on('done', () => void heard++);
    app.consume('orders', () => {});
    await app.start();
    await app.send('orders', 1);
    await system.advance(100);
    end();
    await app.send('orders', 2);
    await system.advance(100);
    expect(heard).toBe(1);
    await app.stop();
  });
});

describe('a message that was lost', () => {
  it('is told once, and nothing is said about it afterwards', async () => {
    const { system, server, process, of } = scene({ shape: 'channel' });
    const { app, cut } = process('1s');
    app.consume('orders', () => {});
    await app.start();
    server.fail('settle', new Error('no answer'), 1);
    await app.send('orders', 1, { id: 'm' });
    await system.advance(10);
    const said = server.stats.settle.entries;
    cut();
    await system.advance(50);
    await system.advance(5_000);
    expect(of('lease-lost')).toMatchObject([{ id: 'm' }]);
    expect(of('done')).toHaveLength(1);
    expect(server.stats.settle.entries - said).toBe(1);
    await app.stop();
  });
});
