import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { increasingIds, realSystem } from '../src/system.ts';

const DAY_MS = 86_400_000;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const millisecondOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('the clocks and chance', () => {
  it('tells the wall clock in epoch milliseconds', () => {
    const before = Date.now();
    const now = realSystem.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('tells a monotonic clock that the wall clock does not move', () => {
    const setBack = vi.spyOn(Date, 'now').mockReturnValue(0);
    const first = realSystem.monotonic();
    expect(realSystem.monotonic()).toBeGreaterThanOrEqual(first);
    expect(first).toBeGreaterThan(0);
    expect(realSystem.now()).toBe(0);
    setBack.mockRestore();
  });

  it('draws from [0, 1) and spreads', () => {
    const draws = Array.from({ length: 1000 }, () => realSystem.random());
    expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
    expect(draws.some((draw) => draw < 0.1) && draws.some((draw) => draw > 0.9)).toBe(true);
  });
});

describe('ids', () => {
  it('are UUIDs of version 7 that carry the wall clock', () => {
    const before = Date.now();
    const id = realSystem.id();
    expect(id).toMatch(UUID_V7);
    expect(millisecondOf(id)).toBeGreaterThanOrEqual(before);
    expect(millisecondOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('increase strictly, however the clock moves', () => {
    const anyClock = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 2, maxLength: 50 });
    fc.assert(
      fc.property(anyClock, (readings) => {
        const clock = readings.values();
        const id = increasingIds(() => clock.next().value ?? 0);
        const ids = readings.map(() => id());
        expect(ids).toEqual([...new Set(ids)].sort());
        for (const one of ids) expect(one).toMatch(UUID_V7);
      }),
    );
  });

  it('borrow from the next millisecond when more are asked for than one can number', () => {
    const id = increasingIds(() => 1_000);
    const ids = Array.from({ length: 10_000 }, id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(millisecondOf(ids[0]!)).toBe(1_000);
    expect(millisecondOf(ids.at(-1)!)).toBeGreaterThan(1_001);
  });

  it('differ between two processes that start at the same moment', () => {
    const one = increasingIds(() => 1_000);
    const other = increasingIds(() => 1_000);
    const ids = Array.from({ length: 3_000 }, () => [one(), other()]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('after', () => {
  it('never fires early', async () => {
    const waits = Array.from({ length: 300 }, (_, n) => 1 + (n % 7) * 0.9);
    const earliest = await Promise.all(
      waits.map(
        (ms) =>
          new Promise<number>((resolve) => {
            const startedAt = performance.now();
            realSystem.after(ms, () => resolve(performance.now() - startedAt - ms));
          }),
      ),
    ).then((late) => Math.min(...late));
    expect(earliest).toBeGreaterThanOrEqual(0);
  });

  it('does not keep the process alive', () => {
    const waiting = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = waiting();
    const cancel = realSystem.after(DAY_MS, () => {});
    expect(waiting()).toBe(before);
    cancel();
  });

  describe('with the clock under control', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('runs once, when its time has come', () => {
      const run = vi.fn();
      realSystem.after(250, run);
      vi.advanceTimersByTime(249);
      expect(run).not.toHaveBeenCalled();
      vi.advanceTimersByTime(DAY_MS);
      expect(run).toHaveBeenCalledTimes(1);
    });

    it('waits on when the timer fired before the monotonic clock agrees', () => {
      const run = vi.fn();
      const monotonic = vi.spyOn(performance, 'now').mockReturnValue(1_000.9);
      realSystem.after(10, run);
      monotonic.mockReturnValue(1_010.1);
      vi.advanceTimersByTime(10);
      expect(run).not.toHaveBeenCalled();
      monotonic.mockReturnValue(1_011.1);
      vi.advanceTimersByTime(1);
      expect(run).toHaveBeenCalledTimes(1);
      monotonic.mockRestore();
    });

    it('waits longer than the longest timer of the platform, in a few strides', () => {
      const run = vi.fn();
      const startedAt = performance.now();
      realSystem.after(60 * DAY_MS, run);
      for (let stride = 0; stride < 3; stride++) vi.advanceTimersToNextTimer();
      expect(run).toHaveBeenCalledTimes(1);
      expect(performance.now() - startedAt).toBe(60 * DAY_MS);
    });

    it('never runs after it was cancelled, be it twice', () => {
      const run = vi.fn();
      const cancel = realSystem.after(10, run);
      cancel();
      cancel();
      vi.advanceTimersByTime(20);
      expect(run).not.toHaveBeenCalled();
    });

    it('can be cancelled after a stride of a long wait', () => {
      const cancel = realSystem.after(60 * DAY_MS, () => {});
      vi.advanceTimersToNextTimer();
      expect(vi.getTimerCount()).toBe(1);
      cancel();
      expect(vi.getTimerCount()).toBe(0);
    });

    it.each([0, -5])('runs soon, but not at once, after %i ms', (ms) => {
      const run = vi.fn();
      realSystem.after(ms, run);
      expect(run).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(run).toHaveBeenCalledTimes(1);
    });
  });
});

describe('turn', () => {
  it('comes after what is ready has run, in the order it was asked for', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      realSystem.turn(() => order.push('turn'));
      realSystem.turn(() => resolve());
      queueMicrotask(() => order.push('microtask'));
      Promise.resolve().then(() => order.push('promise'));
      order.push('now');
    });
    expect(order).toEqual(['now', 'microtask', 'promise', 'turn']);
  });
});

describe('stayAlive', () => {
  it('keeps the process alive until it is cancelled, also twice', () => {
    const keeping = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = keeping();
    const cancel = realSystem.stayAlive();
    expect(keeping()).toBe(before + 1);
    cancel();
    cancel();
    expect(keeping()).toBe(before);
  });
});
