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
