import { describe, expect, it } from 'vitest';
import { SHAPES, scene } from './scene.ts';

/** A supervisor starts a process; the handler of the bad message kills it, again and again. */
async function crashLoop(shape: (typeof SHAPES)[number], good: number) {
  const stage = scene({ shape });
  const { system, process, of } = stage;
  const startsOfBad: { alone: boolean }[] = [];
  const done = new Set<string>();
  let current: ReturnType<typeof process> | undefined;

  const start = async () => {
    const mine = process('1s');
    current = mine;
    let running = 0;
    let dead = false;
    mine.app.consume('orders', { visibilityTimeout: '10s', timeout: '10s', heartbeat: '5s' }, async (message) => {
      if (dead) return new Promise(() => {});
      if (message.id === 'bad') {
        startsOfBad.push({ alone: running === 0 });
        dead = true;
        mine.kill();
        system.after(1_000, () => void start());
        return new Promise(() => {});
      }
      running++;
      await new Promise<void>((resolve) => void system.after(50, resolve));
      running--;
      if (!dead) done.add(message.id!);
    });
    await mine.app.start();
  };

  await start();
  const sender = process();
  for (let n = 0; n < good; n++) {
    if (n === Math.floor(good / 2)) await sender.app.send('orders', 'bad', { id: 'bad' });
    await sender.app.send('orders', n, { id: `good-${n}` });
  }
  await system.advance(600_000);
  return { startsOfBad, done, quarantined: of('quarantined'), stop: () => current?.app.stop({ within: '1s' }) };
}

describe.each(SHAPES)('a message that kills its process, on a %s', (shape) => {
  it('is started at most four times, the last two alone, and quarantined as a crash; its 20 neighbours are done', async () => {
    const { startsOfBad, done, quarantined } = await crashLoop(shape, 20);
    expect(startsOfBad.length).toBeLessThanOrEqual(4);
    expect(startsOfBad.slice(-2)).toEqual([{ alone: true }, { alone: true }]);
    expect(quarantined.map(({ id, reason }) => `${id} ${reason}`)).toEqual(['bad crash']);
    expect([...done]).toHaveLength(20);
  });
});

describe('random kills', () => {
  it.each(SHAPES)('spend no attempt and convict nobody (%s)', async (shape) => {
    const { system, process, of } = scene({ shape });
    const done = new Set<string>();
    const attempts = new Set<number>();
    const sender = process();
    const ids = Array.from({ length: 60 }, (_, n) => `m-${n}`);
    for (const id of ids) await sender.app.send('orders', id, { id });
    for (let round = 0; round < 6; round++) {
      const mine = process('1s');
      let dead = false;
      mine.app.consume(
        'orders',
        { visibilityTimeout: '10s', timeout: '10s', heartbeat: '5s' },
        async (message, ctx) => {
          attempts.add(ctx.attempt);
          await new Promise<void>((resolve) => void system.after(300, resolve));
          if (!dead) done.add(message.id!);
        },
      );
      await mine.app.start();
      await system.advance(round < 5 ? 700 + Math.floor(system.random() * 500) : 300_000);
      if (round < 5) {
        dead = true;
        mine.kill();
      }
    }
    expect([...done].sort()).toEqual([...ids].sort());
    expect([...attempts]).toEqual([1]);
    expect(of('quarantined')).toEqual([]);
  });
});
