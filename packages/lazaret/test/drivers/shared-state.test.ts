import { afterEach, describe, expect, it } from 'vitest';
import { memoryServer } from '../../src/drivers/memory/index.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';
import { Scene } from './sqlite-scene.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Two processes on one store, and its clock. */
const STORES = {
  memory: async () => {
    const system = new ManualSystem();
    const server = memoryServer({ system, shape: 'table' });
    return { system, one: server.connect().shared!, two: server.connect().shared! };
  },
  sqlite: async () => {
    const scene = new Scene();
    ends.push(() => scene.end());
    const [one, two] = [await scene.broker(), await scene.broker()];
    return { system: scene.system, one: one.shared!, two: two.shared! };
  },
};

describe.each(Object.entries(STORES))('what processes share in %s', (_, open) => {
  it('is absent before it is written, and then the same for all', async () => {
    const { one, two } = await open();
    expect(await one.get(['a', '__proto__'])).toEqual([
      { version: 0, value: null },
      { version: 0, value: null },
    ]);
    expect(await one.compareAndSwap('__proto__', 0, 'x\u0000\ud800', 1000)).toBe(true);
    const [absent, found] = await two.get(['a', '__proto__']);
    expect(absent).toEqual({ version: 0, value: null });
    expect(found!.value).toBe('x\u0000\ud800');
    expect(found!.version).toBeGreaterThan(0);
  });

  it('is swapped by one of those who saw the same', async () => {
    const { one, two } = await open();
    expect(await Promise.all([one.compareAndSwap('a', 0, '1', 1000), two.compareAndSwap('a', 0, '2', 1000)])).toEqual([
      true,
      false,
    ]);
    const [{ version } = { version: 0 }] = await two.get(['a']);
    expect(await two.compareAndSwap('a', version, '3', 1000)).toBe(true);
    expect(await one.compareAndSwap('a', version, '4', 1000)).toBe(false);
    expect((await one.get(['a']))[0]!.value).toBe('3');
  });

  it('expires by the clock of the store, and never gets a version again that somebody remembers', async () => {
    const { system, one } = await open();
    await one.compareAndSwap('a', 0, '1', 1000);
    const [first] = await one.get(['a']);
    await system.advance(999);
    expect((await one.get(['a']))[0]!.value).toBe('1');
    await system.advance(1);
    expect((await one.get(['a']))[0]).toEqual({ version: 0, value: null });
    expect(await one.compareAndSwap('a', first!.version, '2', 1000)).toBe(false);
    expect(await one.compareAndSwap('a', 0, '2', 1000)).toBe(true);
    expect((await one.get(['a']))[0]!.version).not.toBe(first!.version);
  });

  it('is deleted with null', async () => {
    const { system, one } = await open();
    await one.compareAndSwap('a', 0, '1', 1000);
    const [{ version } = { version: 0 }] = await one.get(['a']);
    expect(await one.compareAndSwap('a', version, null, 1000)).toBe(true);
    expect((await one.get(['a']))[0]).toEqual({ version: 0, value: null });
    await system.advance(1);
    await one.compareAndSwap('a', 0, '2', 1000);
    expect((await one.get(['a']))[0]!.version).not.toBe(version);
  });
});
