import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdaptiveConcurrency } from '../../../src/core/storm/adaptive-concurrency.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';

const NUMBERS = STORM.concurrency;
const HOUR = 3_600_000;
const adaptive = (concurrency = 50, change: Partial<typeof NUMBERS> = {}, timeoutMs = HOUR) =>
  new AdaptiveConcurrency({ ...NUMBERS, ...change }, concurrency, timeoutMs, 0);

/** `count` successes of one latency, with the limit in full use, spread over `overMs`. Answers the time at their end. */
function succeed(limiter: AdaptiveConcurrency, count: number, latencyMs: number, from: number, overMs = 1000): number {
  for (let i = 1; i <= count; i++) {
    const now = from + (overMs * i) / count;
    limiter.succeeded(latencyMs, limiter.limit(now), now);
  }
  return from + overMs;
}

describe('adaptive concurrency', () => {
  it.each([
    [1, 1],
    [10, 10],
    [20, 20],
    [500, 20],
  ])('of at most %d starts at %d', (concurrency, limit) => {
    expect(adaptive(concurrency).limit(0)).toBe(limit);
  });

  it.each([
    [1, 20],
    [0.5, 10],
  ])('at a pace of %d grows by one per %d answers at 20, up to the concurrency', (pace, answers) => {
    const limiter = adaptive(22, { pace });
    for (let i = 1; i < answers; i++) limiter.answered(20);
    expect(limiter.limit(0)).toBe(20);
    limiter.answered(20);
    expect(limiter.limit(0)).toBe(21);
    for (let i = 0; i < 1000; i++) limiter.answered(22);
    expect(limiter.limit(0)).toBe(22);
  });

  it('grows so much more slowly in each of several processes that all together grow as one would', () => {
    const fleet = { joined: true, processes: 4 };
    const limiter = new AdaptiveConcurrency(NUMBERS, 50, HOUR, 0, fleet);
    for (let i = 1; i < 40; i++) limiter.answered(20);
    expect(limiter.limit(0)).toBe(20);
    limiter.answered(20);
    expect(limiter.limit(0)).toBe(21);
    fleet.processes = 1;
    for (let i = 0; i < 11; i++) limiter.answered(21);
    expect(limiter.limit(0)).toBe(22);
  });

  it('grows more slowly past the bound, though the median is still fine', () => {
    const grown = (latencyMs: number, change: Partial<typeof NUMBERS> = {}) => {
      const limiter = adaptive(1_000, change);
      let now = succeed(limiter, 100, 100, 0);
      now = succeed(limiter, 100, latencyMs, now + 1_000);
      const before = limiter.limit(now);
      for (let i = 0; i < 4 * before; i++) limiter.answered(limiter.limit(now));
      return limiter.limit(now) - before;
    };
    expect(grown(150)).toBe(7);
    expect(grown(300)).toBe(1);
    expect(grown(300, { queueingPace: 0.5 })).toBe(7);
  });

  it('does not grow while less than half of it is used', () => {
    const limiter = adaptive();
    for (let i = 0; i < 1000; i++) limiter.answered(9);
    expect(limiter.limit(0)).toBe(20);
    for (let i = 0; i < 10; i++) limiter.answered(10);
    expect(limiter.limit(0)).toBe(21);
  });

  it('is cut to 0.7 by what the dependency does, at most once per window', () => {
    const limiter = adaptive();
    const limits = [0, 100, 499, 500, 999, 1000, 1500, 2000, 2500, 3000, 3500].map((now) => {
      limiter.suffered(now);
      return limiter.limit(now);
    });
    // 0.7 of what was left exactly: 4.8, 3.4, 2.4. Of whole slots it would be half at the end, which many small processes feel.
    expect(limits).toEqual([14, 14, 14, 9, 9, 6, 4, 3, 2, 1, 1]);
  });

  it('is cut when the median means queueing', () => {
    const limiter = adaptive();
    const now = succeed(limiter, 100, 300, 0);
    const grown = limiter.limit(now);
    // One slot in use: the successes themselves grow nothing.
    for (let i = 1; i <= 20; i++) limiter.succeeded(900, 1, now + 1000 + i);
    expect(limiter.limit(now)).toBe(Math.floor(grown * NUMBERS.cut));
  });

  it.each([
    ['twice the baseline', 590, 300],
    ['fine in itself', 490, 10],
  ])('is not cut by a median that is %s', (_, latencyMs, baselineMs) => {
    const limiter = adaptive();
    let now = succeed(limiter, 100, baselineMs, 0);
    const before = limiter.limit(now);
    now = succeed(limiter, 100, latencyMs, now + 1000);
    expect(limiter.limit(now)).toBeGreaterThan(before);
  });

  it('finds a median above a quarter of the deadline too slow, where that is less', () => {
    const limiter = adaptive(50, {}, 400);
    let now = succeed(limiter, 100, 10, 0);
    const before = limiter.limit(now);
    now = succeed(limiter, 100, 150, now + 1000);
    expect(limiter.limit(now)).toBeLessThan(before);
  });

  it('does not judge by fewer samples than make a median', () => {
    const limiter = adaptive();
    let now = succeed(limiter, 100, 300, 0);
    const before = limiter.limit(now);
    now = succeed(limiter, 10, 9000, now + 10_000);
    expect(limiter.limit(now)).toBeGreaterThanOrEqual(before);
  });

  it('does not grow again before a median is fine', () => {
    const limiter = adaptive();
    let now = succeed(limiter, 100, 300, 0);
    now = succeed(limiter, limiter.limit(now), 900, now + 1000);
    const cut = limiter.limit(now);
    for (let i = 0; i < 1000; i++) limiter.answered(cut);
    expect(limiter.limit(now)).toBe(cut);
    now = succeed(limiter, 100, 300, now + 1000);
    expect(limiter.limit(now)).toBeGreaterThan(cut);
  });

  it('takes the pace of a dependency that is slow for good, measured alone, and grows again', () => {
    const limiter = adaptive();
    let now = succeed(limiter, 100, 100, 0);
    for (let i = 0; i < 20 && limiter.limit(now) > 1; i++) now = succeed(limiter, 40, 2000, now + 3000);
    expect(limiter.limit(now)).toBe(1);
    now = succeed(limiter, 6, 2000, now + 3000, 12_000);
    now = succeed(limiter, 60, 2000, now + 3000, 12_000);
    expect(limiter.baselineMs).toBeGreaterThan(1800);
    expect(limiter.baselineMs).toBeLessThan(2300);
    expect(limiter.limit(now)).toBeGreaterThan(3);
  });

  it('goes on measuring at a limit of 1, however often the dependency fails', () => {
    const limiter = adaptive(1);
    for (let now = 0; now < 20_000; now += 500) {
      limiter.suffered(now);
      limiter.succeeded(300, 1, now + 400);
    }
    expect(limiter.baselineMs).toBeDefined();
  });

  it('is cut again one window after time has jumped back', () => {
    const limiter = adaptive();
    for (const now of [1_000_000, 0, 499, 500]) limiter.suffered(now);
    expect(limiter.limit(500)).toBe(9);
  });

  it('can be set by hand for a while, and then knows what it learnt meanwhile', () => {
    const limiter = adaptive();
    limiter.pin(3, 60_000, 0);
    limiter.suffered(1000);
    expect(limiter.limit(59_999)).toBe(3);
    expect(limiter.limit(60_000)).toBe(14);
    limiter.pin(1000, 1000, 60_000);
    expect(limiter.limit(60_500)).toBe(50);
    limiter.pin(0, 1000, 61_000);
    expect(limiter.limit(61_500)).toBe(1);
  });

  it.each<[name: string, change: Partial<typeof NUMBERS>, limit: number]>([
    ['as it is', {}, 14],
    ['another start', { start: 40 }, 28],
    ['another cut', { cut: 0.5 }, 10],
    ['a longer window', { windowMs: 5000 }, 20],
  ])('obeys its numbers: %s', (_, change, limit) => {
    const limiter = adaptive(50, change);
    limiter.suffered(-1000);
    if ('windowMs' in change) {
      expect(limiter.limit(0)).toBe(14);
      limiter.suffered(3999);
      expect(limiter.limit(0)).toBe(14);
      return;
    }
    expect(limiter.limit(0)).toBe(limit);
  });

  it('obeys its numbers for latency', () => {
    const cutBy = (change: Partial<typeof NUMBERS>, latencyMs: number, samples = 100) => {
      const limiter = adaptive(20, change);
      const now = succeed(limiter, 100, 300, 0);
      return limiter.limit(succeed(limiter, samples, latencyMs, now + 10_000)) < 20;
    };
    expect([cutBy({}, 900), cutBy({ bound: 4 }, 900)]).toEqual([true, false]);
    expect([cutBy({ bound: 1.2 }, 450), cutBy({ bound: 1.2, fineMs: 100 }, 450)]).toEqual([false, true]);
    expect([cutBy({ bound: 1.2, fineShare: 1e-5 }, 450)]).toEqual([true]);
    expect([cutBy({}, 900, 8), cutBy({ leastSamples: 8 }, 900, 8)]).toEqual([false, true]);
  });

  it('follows a lower median by a share of the difference', () => {
    const after = (baselineShare: number) => {
      const limiter = adaptive(20, { baselineShare });
      succeed(limiter, 20, 100, succeed(limiter, 20, 400, 0), 1000);
      return limiter.baselineMs!;
    };
    expect(after(1)).toBeLessThan(after(0.5));
    expect(after(0.5)).toBeLessThan(after(0.1));
  });

  type Act = {
    readonly afterMs: number;
    readonly is: 'success' | 'answer' | 'trouble';
    readonly latencyMs: number;
    readonly used: number;
  };
  const acts = fc.array(
    fc.record<Act>({
      afterMs: fc.oneof(fc.nat(300), fc.integer({ min: -5000, max: -1 })),
      is: fc.constantFrom('success', 'success', 'success', 'answer', 'trouble'),
      latencyMs: fc.oneof(fc.nat(100), fc.nat(10_000), fc.double({ min: 0, max: 1e9, noNaN: true })),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 300 },
  );

  it('stays between 1 and the concurrency, a whole number, whatever happens', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), acts, (concurrency, all) => {
        const limiter = adaptive(concurrency);
        let now = 0;
        for (const { afterMs, is, latencyMs, used } of all) {
          now += afterMs;
          const inFlight = Math.ceil(limiter.limit(now) * used);
          if (is === 'success') limiter.succeeded(latencyMs, inFlight, now);
          else if (is === 'answer') limiter.answered(inFlight);
          else limiter.suffered(now);
          const limit = limiter.limit(now);
          expect(Number.isInteger(limit) && limit >= 1 && limit <= concurrency).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never raises the baseline above a limit of 1, so that a brown-out cannot', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), acts, (concurrency, all) => {
        const limiter = adaptive(concurrency);
        let now = 0;
        for (const { afterMs, is, latencyMs, used } of all) {
          now += Math.abs(afterMs);
          const before = limiter.baselineMs ?? Number.POSITIVE_INFINITY;
          const limit = limiter.limit(now);
          if (is === 'success') limiter.succeeded(latencyMs, Math.ceil(limit * used), now);
          else if (is === 'trouble') limiter.suffered(now);
          if (limit > 1) expect(limiter.baselineMs ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(before);
        }
      }),
      { numRuns: 500 },
    );
  });
});
