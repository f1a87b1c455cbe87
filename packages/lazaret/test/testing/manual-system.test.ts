import { describe, expect, it } from 'vitest';
import { ManualSystem } from '../../src/testing/manual-system.ts';

describe('time', () => {
  it('stands still until it is moved', async () => {
    const system = new ManualSystem({ startAt: 5_000 });
    await system.settle();
    expect(system.now()).toBe(5_000);
    await system.advance(250);
    expect(system.now()).toBe(5_250);
  });

  it('moves both clocks together, and a jump moves the wall clock alone', async () => {
    const system = new ManualSystem();
    const [wall, steady] = [system.now(), system.monotonic()];
    system.jump(-3_600_000);
    await system.advance(10);
    expect(system.now() - wall).toBe(-3_599_990);
    expect(system.monotonic() - steady).toBe(10);
  });

  it('fires timers as planned although the wall clock was set back', async () => {
    const system = new ManualSystem();
    let fired = 0;
    system.after(100, () => fired++);
    system.jump(-1_000_000);
    await system.advance(99);
    expect(fired).toBe(0);
    await system.advance(1);
    expect(fired).toBe(1);
  });

  it('carries waits beyond 2^31 ms', async () => {
    const system = new ManualSystem();
    let fired = false;
    system.after(2 ** 40, () => {
      fired = true;
    });
    await system.advance(2 ** 40 - 1);
    expect(fired).toBe(false);
    await system.advance(1);
    expect(fired).toBe(true);
  });
});

describe('timers', () => {
  it('fire in order of time, then of arming, each at its own time', async () => {
    const system = new ManualSystem({ startAt: 0 });
    const fired: string[] = [];
    for (const [name, ms] of Object.entries({ c: 30, a: 10, d: 30, b: 20 })) {
      system.after(ms, () => fired.push(`${name}@${system.now()}`));
    }
    await system.advance(100);
    expect(fired).toEqual(['a@10', 'b@20', 'c@30', 'd@30']);
  });

  it('keep their order among many, with some cancelled', async () => {
    const system = new ManualSystem({ seed: 7 });
    const fired: number[] = [];
    const expected: number[] = [];
    for (let n = 0; n < 500; n++) {
      const ms = Math.floor(system.random() * 100);
      const cancel = system.after(ms, () => fired.push(ms));
      if (n % 3 === 0) cancel();
      else expected.push(ms);
    }
    await system.advance(100);
    expect(fired).toEqual(expected.sort((a, b) => a - b));
    expect(system.pending()).toBe(0);
  });

  it('let what they wake run before the next one fires', async () => {
    const system = new ManualSystem();
    const seen: string[] = [];
    system.after(10, async () => {
      for (let n = 0; n < 50; n++) await Promise.resolve();
      seen.push('first, deep in promises');
    });
    system.after(10, () => seen.push('second'));
    await system.advance(10);
    expect(seen).toEqual(['first, deep in promises', 'second']);
  });

  it('armed by a timer fire within the same advance', async () => {
    const system = new ManualSystem({ startAt: 0 });
    const fired: number[] = [];
    const tick = () => {
      fired.push(system.now());
      system.after(10, tick);
    };
    system.after(10, tick);
    await system.advance(35);
    expect(fired).toEqual([10, 20, 30]);
    expect(system.now()).toBe(35);
  });

  it('are counted while armed, and cancelling twice is harmless', async () => {
    const system = new ManualSystem();
    const cancel = system.after(10, () => undefined);
    system.after(20, () => undefined);
    expect(system.pending()).toBe(2);
    cancel();
    cancel();
    expect(system.pending()).toBe(1);
    await system.advance(20);
    cancel();
    expect(system.pending()).toBe(0);
  });

  it('of 0 ms fire on settle', async () => {
    const system = new ManualSystem();
    let fired = false;
    system.after(0, () => {
      fired = true;
    });
    await system.settle();
    expect(fired).toBe(true);
  });

  it('that re-arm themselves without time passing are named, not waited for', async () => {
    const system = new ManualSystem();
    const spin = () => void system.after(0, spin);
    spin();
    await expect(system.advance(1)).rejects.toMatchObject({ code: 'LZ1054' });
  });

  it('that throw fail the advance, and the next one goes on', async () => {
    const system = new ManualSystem();
    const failure = new Error('in a timer');
    system.after(1, () => {
      throw failure;
    });
    await expect(system.advance(5)).rejects.toBe(failure);
    const before = system.now();
    await system.advance(5);
    expect(system.now()).toBe(before + 5);
  });
});

describe('turn', () => {
  it('runs after pending microtasks, in order', async () => {
    const system = new ManualSystem();
    const seen: string[] = [];
    system.turn(() => seen.push('turn 1'));
    system.turn(() => seen.push('turn 2'));
    queueMicrotask(() => queueMicrotask(() => seen.push('microtask')));
    await system.settle();
    expect(seen).toEqual(['microtask', 'turn 1', 'turn 2']);
  });

  it('asked for inside a turn runs in the next one, and settle waits for it', async () => {
    const system = new ManualSystem();
    const seen: string[] = [];
    system.turn(() => {
      system.turn(() => seen.push('next'));
      queueMicrotask(() => seen.push('between'));
    });
    await system.settle();
    expect(seen).toEqual(['between', 'next']);
  });

  it('needs no advance', async () => {
    const system = new ManualSystem();
    await new Promise<void>((resolve) => system.turn(resolve));
  });
});

describe('advance', () => {
  it('queues calls that overlap', async () => {
    const system = new ManualSystem({ startAt: 0 });
    const fired: number[] = [];
    system.after(10, () => fired.push(system.now()));
    system.after(15, () => fired.push(system.now()));
    await Promise.all([system.advance(10), system.advance(10)]);
    expect(fired).toEqual([10, 15]);
    expect(system.now()).toBe(20);
  });
});

describe('chance and ids', () => {
  it('repeat with the seed and differ without it', () => {
    const draw = (seed: number) => {
      const system = new ManualSystem({ seed });
      return [system.random(), system.random(), system.id()];
    };
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });

  it('spread evenly over [0, 1)', () => {
    const system = new ManualSystem({ seed: 11 });
    const buckets = new Array<number>(10).fill(0);
    for (let n = 0; n < 10_000; n++) buckets[Math.floor(system.random() * 10)]!++;
    for (const count of buckets) expect(count).toBeGreaterThan(850);
  });

  it('ids sort by time, then by order of asking, and never repeat', async () => {
    const system = new ManualSystem();
    const ids: string[] = [];
    for (let n = 0; n < 5_000; n++) {
      ids.push(system.id());
      if (n % 1_000 === 0) await system.advance(1);
    }
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
