import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../src/core/storm/token-bucket.ts';

const TEN_A_SECOND = { count: 10, perMs: 1000 };

describe('a token bucket', () => {
  it.each<[what: string, taken: readonly [want: number, at: number, granted: number][]]>([
    [
      'grants its burst at once, and no more',
      [
        [3, 0, 3],
        [5, 0, 2],
        [1, 0, 0],
      ],
    ],
    [
      'grants what has come back',
      [
        [5, 0, 5],
        [5, 99, 0],
        [5, 100, 1],
        [5, 350, 2],
      ],
    ],
    [
      'keeps the fraction for later',
      [
        [5, 0, 5],
        [5, 150, 1],
        [5, 200, 1],
        [5, 250, 0],
      ],
    ],
    [
      'fills up to its burst and not above',
      [
        [5, 0, 5],
        [99, 3_600_000, 5],
        [1, 3_600_000, 0],
      ],
    ],
    [
      'grants nothing to who wants nothing',
      [
        [0, 0, 0],
        [-3, 0, 0],
        [Number.NaN, 0, 0],
        [5, 0, 5],
      ],
    ],
    [
      'keeps what is there when time jumps back, and refills from then on',
      [
        [5, 10_000, 5],
        [1, 0, 0],
        [1, 99, 0],
        [1, 100, 1],
      ],
    ],
  ])('%s', (_, taken) => {
    const bucket = new TokenBucket(TEN_A_SECOND, 5, 0);
    expect(taken.map(([want, at]) => bucket.take(want, at))).toEqual(taken.map(([, , granted]) => granted));
  });

  it('takes as many tokens as a message weighs', () => {
    const bucket = new TokenBucket(TEN_A_SECOND, 10, 0);
    expect(bucket.take(5, 0, 4)).toBe(2);
    expect(bucket.tokens(0)).toBe(2);
    expect(bucket.take(5, 0, 0)).toBe(5);
  });

  it('lets go what weighs more than the burst when it is full', () => {
    const bucket = new TokenBucket(TEN_A_SECOND, 5, 0);
    expect(bucket.take(2, 0, 100)).toBe(1);
    expect(bucket.waitMs(0, 100)).toBe(500);
    expect(bucket.take(1, 499, 100)).toBe(0);
    expect(bucket.take(1, 500, 100)).toBe(1);
  });

  it('says how long to wait, and then grants', () => {
    const bucket = new TokenBucket({ count: 7, perMs: 60_000 }, 1, 0);
    bucket.take(1, 0);
    const waitMs = bucket.waitMs(0);
    expect(waitMs).toBe(8572);
    expect(bucket.take(1, waitMs - 1)).toBe(0);
    expect(bucket.take(1, waitMs)).toBe(1);
  });

  it('goes on with another rate from the moment it is changed', () => {
    const bucket = new TokenBucket(TEN_A_SECOND, 5, 0);
    bucket.take(5, 0);
    bucket.change({ count: 1000, perMs: 1000 }, 100, 200);
    expect(bucket.tokens(200)).toBe(2);
    expect(bucket.take(100, 210)).toBe(12);
    bucket.change(TEN_A_SECOND, 3, 1000);
    expect(bucket.burst).toBe(3);
    expect(bucket.tokens(1000)).toBe(3);
  });

  it('loses what is handed back beyond its burst', () => {
    const bucket = new TokenBucket(TEN_A_SECOND, 5, 0);
    bucket.take(3, 0);
    bucket.handBack(1_000_000);
    expect(bucket.take(1_000_000, 0)).toBe(5);
    expect(bucket.take(1, 99)).toBe(0);
  });

  const steps = fc.array(
    fc.record({
      // Whole, half and jumping back.
      afterMs: fc.oneof(
        fc.integer({ min: 0, max: 5000 }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.integer({ min: -9000, max: -1 }),
      ),
      want: fc.integer({ min: 0, max: 50 }),
      weight: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.double({ min: 0.01, max: 3, noNaN: true })),
      handBack: fc.integer({ min: 0, max: 50 }),
      change: fc.option(fc.integer({ min: 1, max: 100_000 }), { freq: 8 }),
    }),
    { maxLength: 100 },
  );

  it('never holds less than nothing or more than its burst, whatever is asked of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 200 }),
        steps,
        (count, burst, asked) => {
          const bucket = new TokenBucket({ count, perMs: 60_000 }, burst, 0);
          let now = 0;
          for (const { afterMs, want, weight, handBack, change } of asked) {
            now += afterMs;
            if (change !== null) bucket.change({ count: change, perMs: 60_000 }, burst, now);
            const before = bucket.tokens(now);
            const granted = bucket.take(want, now, weight);
            expect(granted * Math.min(weight, burst)).toBeLessThanOrEqual(before + 1e-9);
            expect(granted).toBeLessThanOrEqual(want);
            bucket.handBack(handBack, weight);
            expect(bucket.tokens(now)).toBeGreaterThanOrEqual(0);
            expect(bucket.tokens(now)).toBeLessThanOrEqual(burst);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('is as it was when all that was taken is handed back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 5000 }),
        (burst, want, now) => {
          const bucket = new TokenBucket(TEN_A_SECOND, burst, 0);
          bucket.take(Math.floor(burst / 2), 0);
          const before = bucket.tokens(now);
          bucket.handBack(bucket.take(want, now));
          expect(bucket.tokens(now)).toBeCloseTo(before, 9);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each([
    [1, 3],
    [7, 1000],
    [333, 1000],
    [1_000_000, 86_400_000],
  ])('does not drift: %d per %d ms grants exactly that, however often it is asked', (count, perMs) => {
    const burst = 40;
    const bucket = new TokenBucket({ count, perMs }, burst, 0);
    let granted = bucket.take(burst, 0);
    const endsAt = 3_000_000;
    // Always hungry, in steps of every length: what is granted in all is known.
    for (let now = 0, step = 1; now < endsAt; step = (step * 7 + 1) % 11) {
      now = Math.min(endsAt, now + step + 1);
      granted += bucket.take(1_000_000, now);
    }
    expect(granted).toBe(burst + Math.floor((endsAt * count) / perMs));
  });
});
