import { describe, expect, it } from 'vitest';
import { Poison } from '../../src/index.ts';
import { SHAPES, scene } from './scene.ts';

async function attemptsOf(shape: (typeof SHAPES)[number], jitter: 'none' | '±20%', id: string) {
  const { system, process, now, of } = scene({ shape });
  const { app } = process();
  const starts: number[] = [];
  app.consume('orders', { jitter }, () => {
    starts.push(now());
    throw new Error('not today');
  });
  await app.start();
  await system.settle();
  const sentAt = now();
  await app.send('orders', { order: 'o-1' }, { id });
  await system.advance(120_000);
  const gaps = starts.map((at, n) => at - (n === 0 ? sentAt : starts[n - 1]!));
  const quarantined = of('quarantined');
  await app.stop();
  return { gaps, quarantined };
}

describe.each(SHAPES)('the schedule of a failing message on a %s', (shape) => {
  it('tries at once, then after 2 s, 8 s and 30 s, to the millisecond where jitter is off, and quarantines it', async () => {
    const { gaps, quarantined } = await attemptsOf(shape, 'none', 'evt-1');
    expect(gaps).toEqual([0, 2_000, 8_000, 30_000]);
    expect(quarantined).toMatchObject([{ id: 'evt-1', attempt: 4, reason: 'exhausted', why: 'Error: not today' }]);
  });

  it.each(['evt-1', 'evt-2', 'evt-3'])('stays within a fifth of each wait with jitter (%s)', async (id) => {
    const { gaps } = await attemptsOf(shape, '±20%', id);
    expect(gaps).toHaveLength(4);
    const [, first, second, third] = gaps as [number, number, number, number];
    expect(first).toBeGreaterThanOrEqual(1_600);
    expect(first).toBeLessThanOrEqual(2_400);
    expect(second).toBeGreaterThanOrEqual(6_400);
    expect(second).toBeLessThanOrEqual(9_600);
    expect(third).toBeGreaterThanOrEqual(24_000);
    expect(third).toBeLessThanOrEqual(36_000);
  });

  it('quarantines poison on its first attempt while healthy messages go on', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume<string>('orders', (message) => {
      if ((message.json() as { bad?: boolean }).bad) throw new Poison('customer is empty');
    });
    await app.start();
    for (let n = 0; n < 20; n++) await app.send('orders', { bad: n === 7 }, { id: `m-${n}` });
    await system.advance(1_000);
    expect(of('quarantined')).toMatchObject([
      { id: 'm-7', attempt: 1, reason: 'poison', why: 'Poison: customer is empty' },
    ]);
    expect(of('done')).toHaveLength(19);
    await app.stop();
  });

  it('quarantines what is not JSON as undecodable, at once', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consume('orders', (message) => message.json());
    await app.start();
    await app.send('orders', new TextEncoder().encode('{"a":'), { id: 'broken' });
    await system.advance(100);
    expect(of('quarantined')).toMatchObject([{ id: 'broken', attempt: 1, reason: 'undecodable' }]);
    await app.stop();
  });
});
