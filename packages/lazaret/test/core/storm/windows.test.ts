import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Latencies } from '../../../src/core/storm/latencies.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { Recent } from '../../../src/core/storm/recent.ts';
import { slowMs } from '../../../src/core/storm/slow.ts';
import { Strands } from '../../../src/core/storm/strands.ts';
import { Tally } from '../../../src/core/storm/tally.ts';

const counts = fc.array(fc.record({ count: fc.nat(9), ticks: fc.oneof(fc.nat(3), fc.nat(40)) }), { maxLength: 60 });

describe('a tally', () => {
  it('is the sum of what was counted in as many ticks as it has buckets', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), counts, (buckets, all) => {
        const tally = new Tally(buckets);
        const seen: { count: number; tick: number }[] = [];
        let tick = 1000;
        for (const { count, ticks } of all) {
          tick += ticks;
          tally.add(count, tick);
          seen.push({ count, tick });
          const recent = seen.filter((one) => tick - one.tick < buckets);
          expect(tally.sum(tick)).toBe(recent.reduce((sum, one) => sum + one.count, 0));
        }
        expect(tally.sum(tick + buckets)).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('forgets in time wherever time has jumped, and never goes below nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 60 }), (jumps) => {
        const tally = new Tally(5);
        let tick = 0;
        for (const jump of jumps) {
          tick += jump;
          tally.add(1, tick);
          expect(tally.sum(tick)).toBeGreaterThanOrEqual(1);
        }
        expect(tally.sum(tick + 5)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the median of latencies', () => {
  it('is right to an eighth, whatever the sizes', () => {
    const latency = fc.double({ min: 0.01, max: 1_000_000, noNaN: true });
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), (all) => {
        const latencies = new Latencies();
        for (const ms of all) latencies.add(ms);
        const exact = [...all].sort((a, b) => a - b)[Math.ceil(all.length / 2) - 1]!;
        expect(Math.abs(latencies.median() - exact) / exact).toBeLessThanOrEqual(0.125);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([0, -5, 1e-9, 1e12, Number.POSITIVE_INFINITY])('bears a latency of %d', (ms) => {
    const latencies = new Latencies();
    latencies.add(ms);
    expect(Number.isFinite(latencies.median())).toBe(true);
    expect(latencies.count).toBe(1);
  });

  it('is 0 where there is none', () => {
    const latencies = new Latencies();
    latencies.add(5);
    latencies.clear();
    expect([latencies.median(), latencies.count]).toEqual([0, 0]);
  });
});

describe('recent messages', () => {
  it('are new once in their life', () => {
    const recent = new Recent(64, 5);
    expect([0, 0, 4, 5, 9, 10].map((tick) => recent.isNew(0.5, tick))).toEqual([true, false, false, true, false, true]);
    recent.clear();
    expect(recent.isNew(0.5, 10)).toBe(true);
  });

  it('are new again when time jumps back before them', () => {
    const recent = new Recent(64, 5);
    recent.isNew(0.5, 100);
    expect([recent.isNew(0.5, 3), recent.isNew(0.5, 4)]).toEqual([true, false]);
  });

  it('are told apart as long as there are places, and never taken for one that was not there', () => {
    const keys = fc.uniqueArray(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 400 });
    fc.assert(
      fc.property(keys, (all) => {
        const recent = new Recent(64, 5);
        expect(all.every((key) => recent.isNew(key, 0))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('strands', () => {
  const seen = (strands: Strands, fingerprint: string, times: number, tick = 0) => {
    for (let i = 0; i < times; i++) strands.of(fingerprint, tick)?.tally.add(1, tick);
  };

  it('are bounded, whatever fingerprints come', () => {
    const strands = new Strands(8, 5, 1000);
    for (let i = 0; i < 10_000; i++) seen(strands, `f${i}`, 1);
    expect(
      Array.from({ length: 10_000 }, (_, i) => strands.get(`f${i}`)).filter((strand) => strand !== undefined),
    ).toHaveLength(8);
  });

  it('keep the frequent one through any flood of new ones', () => {
    const strands = new Strands(32, 30, 1000);
    // One in five, from the first on.
    for (let i = 0; i < 1000; i++) seen(strands, i % 5 === 0 ? 'frequent' : `flood ${i}`, 1);
    expect(strands.get('frequent')?.tally.sum(0)).toBe(200);
  });

  it('forget the longest unseen among the rarest', () => {
    const strands = new Strands(3, 5, 1000);
    for (const fingerprint of ['a', 'b', 'c']) seen(strands, fingerprint, 1);
    strands.of('a', 0);
    strands.of('d', 0);
    expect(['a', 'b', 'c', 'd'].filter((fingerprint) => strands.get(fingerprint) !== undefined)).toEqual([
      'a',
      'c',
      'd',
    ]);
  });

  it('never forget one that has tripped; where all have, others are not told apart', () => {
    const strands = new Strands(2, 5, 1000);
    for (const fingerprint of ['a', 'b']) strands.trip(strands.of(fingerprint, 0)!, 0);
    expect(strands.of('c', 0)).toBeUndefined();
    expect(strands.tripped().map(({ fingerprint }) => fingerprint)).toEqual(['a', 'b']);
    strands.reset(strands.get('a')!);
    expect(strands.of('c', 0)).toBeDefined();
    expect(strands.get('a')).toBeUndefined();
  });

  it('calm down after having been clear for long enough, counted from the last time', () => {
    const strands = new Strands(2, 5, 1000);
    const strand = strands.of('a', 0)!;
    expect(strands.calm(strand, 0)).toBe(false);
    expect([strands.trip(strand, 0), strands.trip(strand, 500)]).toEqual([true, false]);
    expect([strands.calm(strand, 1499), strands.calm(strand, 1500), strands.calm(strand, 1501)]).toEqual([
      false,
      true,
      false,
    ]);
    strands.trip(strand, 5000);
    expect([strands.calm(strand, 0), strands.calm(strand, 1000)]).toEqual([false, true]);
  });

  it('take __proto__ for a name like others', () => {
    const strands = new Strands(2, 5, 1000);
    seen(strands, '__proto__', 3);
    expect(strands.get('__proto__')?.tally.sum(0)).toBe(3);
    expect(strands.get('constructor')).toBeUndefined();
  });
});

describe('slowing down', () => {
  it.each([
    [0, 0.5, 5000],
    [-1000, 0.5, 5000],
    [60_000, 0.5, 15_000],
    [60_000, 0, 12_000],
    [60_000, 1 - 2 ** -53, 18_000],
    [86_400_000, 0.5, 120_000],
  ])('after %d ms, with chance %d, waits %d ms', (lastedMs, chance, waitMs) => {
    expect(slowMs(lastedMs, chance, STORM.slow)).toBe(waitMs);
  });

  it.each([
    [{ firstMs: 1 }, 0, 1],
    [{ share: 0.5 }, 60_000, 30_000],
    [{ longestMs: 7000 }, 60_000, 7000],
    [{ jitter: 0.5 }, 60_000, 7500],
  ])('obeys its numbers: %o', (change, lastedMs, waitMs) => {
    expect(slowMs(lastedMs, 'jitter' in change ? 0 : 0.5, { ...STORM.slow, ...change })).toBe(waitMs);
  });
});
