import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Backoff,
  backoffDelay,
  backoffRange,
  type DelayWindow,
  delayWindow,
  type Jitter,
  steadyFrom,
} from '../../src/core/backoff.ts';
import { draw } from '../../src/core/draw.ts';

const DAY_MS = 86_400_000;
const LONGEST_BASE_MS = 30 * DAY_MS;
const LAST_DRAW = 1 - 2 ** -53;

const list = (...delaysMs: number[]): Backoff => ({ kind: 'list', delaysMs });
const exponential = (baseMs: number, factor: number, capMs: number): Backoff => ({
  kind: 'exponential',
  baseMs,
  factor,
  capMs,
});
const NONE: Jitter = { kind: 'none' };
const FULL: Jitter = { kind: 'full' };
const DECORRELATED: Jitter = { kind: 'decorrelated' };
const FIFTH: Jitter = { kind: 'proportional', share: 0.2 };
const STANDARD = list(2000, 8000, 30_000);

/** As many small values as large ones. */
const milliseconds = (max: number) =>
  fc.double({ min: 0, max: Math.log(max), noNaN: true }).map((power) => Math.min(max, Math.round(Math.exp(power))));
const exponentials = fc
  .tuple(milliseconds(LONGEST_BASE_MS), milliseconds(3650 * DAY_MS), fc.double({ min: 1, max: 20, noNaN: true }))
  .map(([baseMs, capMs, factor]) => exponential(baseMs, factor, Math.max(baseMs, capMs)));
const lists = fc.array(milliseconds(LONGEST_BASE_MS), { minLength: 1, maxLength: 20 }).map((delays) => list(...delays));
const risingLists = fc
  .array(milliseconds(LONGEST_BASE_MS), { minLength: 1, maxLength: 20 })
  .map((delays) => list(...delays.sort((a, b) => a - b)));
const jitters = fc.oneof(
  fc.constantFrom(NONE, FULL, DECORRELATED, FIFTH),
  fc.double({ min: 0.01, max: 0.99, noNaN: true }).map((share): Jitter => ({ kind: 'proportional', share })),
);
const attempts = fc.oneof(
  fc.integer({ min: 1, max: 130 }),
  fc.constantFrom(1, 2, 31, 32, 33, 63, 64, 65, 130, 1023, 1024, 1025, 2 ** 31, 1e9),
  fc.integer({ min: 1, max: 1e9 }),
);

/** The longest wait that is allowed at all. A share that should give a whole number of milliseconds may fall a hair short of it. */
function cap(backoff: Backoff, jitter: Jitter): number {
  const { capMs } = backoffRange(backoff);
  const spreads = backoff.kind === 'list' && jitter.kind === 'proportional';
  return spreads ? capMs + Math.floor(capMs * jitter.share + 1e-6) : capMs;
}

describe('delayWindow', () => {
  it.each<[string, Backoff, Jitter, number, DelayWindow]>([
    ['the documented first rung', STANDARD, FIFTH, 1, { floorMs: 1600, nominalMs: 2000, ceilingMs: 2400 }],
    ['the documented second rung', STANDARD, FIFTH, 2, { floorMs: 6400, nominalMs: 8000, ceilingMs: 9600 }],
    ['the documented third rung', STANDARD, FIFTH, 3, { floorMs: 24_000, nominalMs: 30_000, ceilingMs: 36_000 }],
    ['a list beyond its end', STANDARD, FIFTH, 4, { floorMs: 24_000, nominalMs: 30_000, ceilingMs: 36_000 }],
    ['no jitter', STANDARD, NONE, 2, { floorMs: 8000, nominalMs: 8000, ceilingMs: 8000 }],
    [
      'another share',
      STANDARD,
      { kind: 'proportional', share: 0.29 },
      1,
      { floorMs: 1420, nominalMs: 2000, ceilingMs: 2580 },
    ],
    ['a share too small for a millisecond', list(4), FIFTH, 1, { floorMs: 4, nominalMs: 4, ceilingMs: 4 }],
    ['full, first', STANDARD, FULL, 1, { floorMs: 1000, nominalMs: 2000, ceilingMs: 2000 }],
    ['full, later', STANDARD, FULL, 3, { floorMs: 1000, nominalMs: 30_000, ceilingMs: 30_000 }],
    ['full on a list that falls', list(30_000, 2000), FULL, 2, { floorMs: 1000, nominalMs: 2000, ceilingMs: 2000 }],
    ['decorrelated, first', STANDARD, DECORRELATED, 1, { floorMs: 2000, nominalMs: 6000, ceilingMs: 6000 }],
    ['decorrelated, second', STANDARD, DECORRELATED, 2, { floorMs: 2000, nominalMs: 18_000, ceilingMs: 18_000 }],
    ['decorrelated, third', STANDARD, DECORRELATED, 3, { floorMs: 2000, nominalMs: 30_000, ceilingMs: 30_000 }],
    [
      'a growth of two',
      exponential(1000, 2, 3_600_000),
      NONE,
      5,
      { floorMs: 16_000, nominalMs: 16_000, ceilingMs: 16_000 },
    ],
    [
      'a growth of 1.5',
      exponential(1000, 1.5, 3_600_000),
      NONE,
      3,
      { floorMs: 2250, nominalMs: 2250, ceilingMs: 2250 },
    ],
    [
      'a growth to half a millisecond',
      exponential(1001, 1.5, 3_600_000),
      NONE,
      2,
      { floorMs: 1502, nominalMs: 1502, ceilingMs: 1502 },
    ],
    ['no growth', exponential(1000, 1, 3_600_000), NONE, 1e9, { floorMs: 1000, nominalMs: 1000, ceilingMs: 1000 }],
    ['just below the cap', exponential(1000, 2, 1100), FIFTH, 1, { floorMs: 800, nominalMs: 1000, ceilingMs: 1100 }],
    ['at the cap', exponential(1000, 2, 10_000), FIFTH, 5, { floorMs: 8000, nominalMs: 10_000, ceilingMs: 10_000 }],
    [
      'far beyond the cap',
      exponential(1000, 2, 10_000),
      FIFTH,
      1e9,
      { floorMs: 8000, nominalMs: 10_000, ceilingMs: 10_000 },
    ],
    ['a wait that is configured as none', list(0, 1000), FULL, 1, { floorMs: 0, nominalMs: 0, ceilingMs: 0 }],
  ])('of %s', (_, backoff, jitter, attempt, window) => {
    expect(delayWindow(backoff, jitter, attempt)).toEqual(window);
  });

  it.each([1, 30, 64, 65, 130, 1023, 1024, 1e9])('never overflows or starts again at attempt %d', (attempt) => {
    const { nominalMs } = delayWindow(exponential(1000, 2, 30_000), NONE, attempt);
    expect(nominalMs).toBe(attempt === 1 ? 1000 : 30_000);
  });

  it('does not shrink from one attempt to the next', () => {
    fc.assert(
      fc.property(fc.oneof(exponentials, risingLists), jitters, attempts, (backoff, jitter, attempt) => {
        const before = delayWindow(backoff, jitter, attempt);
        const after = delayWindow(backoff, jitter, attempt + 1);
        expect(after.ceilingMs).toBeGreaterThanOrEqual(before.ceilingMs);
        expect(after.floorMs).toBeGreaterThanOrEqual(before.floorMs);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('backoffDelay', () => {
  it('counts a share that falls a hair short of a whole millisecond as the whole', () => {
    const shareOf = (ms: number) => (ms - 1e-7) / LONGEST_BASE_MS;
    const jitter: Jitter = { kind: 'proportional', share: shareOf(896_518_125) };
    expect(delayWindow(list(LONGEST_BASE_MS), jitter, 1).ceilingMs).toBe(LONGEST_BASE_MS + 896_518_125);
    expect(cap(list(LONGEST_BASE_MS), jitter)).toBe(LONGEST_BASE_MS + 896_518_125);
  });

  it('is a finite whole number of milliseconds inside the window, and the window inside [floor, cap]', () => {
    const ends = fc.constantFrom(0, LAST_DRAW);
    fc.assert(
      fc.property(
        fc.oneof(exponentials, lists),
        jitters,
        attempts,
        fc.string(),
        fc.option(ends),
        (backoff, jitter, attempt, id, end) => {
          const { floorMs, nominalMs, ceilingMs } = delayWindow(backoff, jitter, attempt);
          const delayMs = backoffDelay(backoff, jitter, attempt, (n) => end ?? draw(id, n));
          expect(Number.isSafeInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThanOrEqual(floorMs);
          expect(delayMs).toBeLessThanOrEqual(ceilingMs);
          expect(floorMs).toBeGreaterThanOrEqual(1);
          expect(nominalMs).toBeGreaterThanOrEqual(floorMs);
          expect(nominalMs).toBeLessThanOrEqual(ceilingMs);
          expect(ceilingMs).toBeLessThanOrEqual(cap(backoff, jitter));
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it.each<[string, Backoff, Jitter, number]>([
    ['proportional', STANDARD, FIFTH, 1],
    ['proportional at the cap', exponential(1000, 2, 3_600_000), FIFTH, 40],
    ['full', STANDARD, FULL, 3],
    ['decorrelated', STANDARD, DECORRELATED, 1],
  ])('reaches both ends of its window: %s', (_, backoff, jitter, attempt) => {
    const { floorMs, ceilingMs } = delayWindow(backoff, jitter, attempt);
    expect(backoffDelay(backoff, jitter, attempt, () => 0)).toBe(floorMs);
    expect(backoffDelay(backoff, jitter, attempt, () => LAST_DRAW)).toBe(ceilingMs);
  });

  it('asks for one chance, the one of its attempt', () => {
    const asked: number[] = [];
    for (const jitter of [FIFTH, FULL, NONE]) backoffDelay(STANDARD, jitter, 7, (n) => asked.push(n) * 0);
    expect(asked).toEqual([7, 7, 7]);
  });

  it('asks for the last 64 chances at most where each wait hangs on the one before', () => {
    const asked: number[] = [];
    backoffDelay(STANDARD, DECORRELATED, 1e9, (n) => asked.push(n) * 0);
    expect(asked).toEqual(Array.from({ length: 64 }, (_, index) => 1e9 - 63 + index));
  });

  it('lets a decorrelated wait grow up to three times the one before, and no more', () => {
    const backoff = exponential(1000, 2, 100_000);
    const delays = [1, 2, 3, 4, 5].map((attempt) => backoffDelay(backoff, DECORRELATED, attempt, () => LAST_DRAW));
    expect(delays).toEqual([3000, 9000, 27_000, 81_000, 100_000]);
    expect(backoffDelay(backoff, DECORRELATED, 3, (n) => (n === 3 ? 0 : LAST_DRAW))).toBe(1000);
  });
});

describe('the spread of waits', () => {
  const DRAWS = 10_000;

  /** Largest share of draws on one whole millisecond, or on one whole second where the window is wide enough for seconds. */
  function largestShare(
    { floorMs, ceilingMs }: Pick<DelayWindow, 'floorMs' | 'ceilingMs'>,
    delays: (at: number) => number,
  ) {
    const unitMs = ceilingMs - floorMs >= 100_000 ? 1000 : 1;
    const counts = new Map<number, number>();
    for (let at = 0; at < DRAWS; at++) {
      const unit = Math.floor(delays(at) / unitMs);
      counts.set(unit, (counts.get(unit) ?? 0) + 1);
    }
    return Math.max(...counts.values()) / DRAWS;
  }

  const uniform = fc.constantFrom(FULL, FIFTH, { kind: 'proportional', share: 0.5 } as const);

  it('piles up nowhere: no value of a window of a second or more holds over 2 % of the draws', () => {
    fc.assert(
      fc.property(fc.oneof(exponentials, lists), uniform, attempts, fc.string(), (backoff, jitter, attempt, id) => {
        const window = delayWindow(backoff, jitter, attempt);
        fc.pre(window.ceilingMs - window.floorMs >= 1000);
        const share = largestShare(window, (at) =>
          backoffDelay(backoff, jitter, attempt, (n) => draw(`${id}-${at}`, n)),
        );
        expect(share).toBeLessThanOrEqual(0.02);
      }),
      { numRuns: 100 },
    );
  });

  it('piles up nowhere when decorrelated: the same holds between the first delay and three times the wait before', () => {
    fc.assert(
      fc.property(exponentials, attempts, fc.string(), (backoff, attempt, id) => {
        const { firstMs, capMs } = backoffRange(backoff);
        const earlier = (n: number) => draw(id, n);
        // Computed from as many draws as the wait itself goes back.
        let beforeMs = firstMs;
        for (let n = Math.max(1, attempt - 63); n < attempt; n++) {
          beforeMs = firstMs + Math.floor(earlier(n) * (Math.min(3 * beforeMs, capMs) - firstMs + 1));
        }
        const window = { floorMs: firstMs, ceilingMs: Math.min(3 * beforeMs, capMs) };
        fc.pre(window.ceilingMs - window.floorMs >= 1000);
        const share = largestShare(window, (at) =>
          backoffDelay(backoff, DECORRELATED, attempt, (n) => (n === attempt ? draw(`${id}-${at}`, n) : earlier(n))),
        );
        expect(share).toBeLessThanOrEqual(0.02);
      }),
      { numRuns: 30 },
    );
  });

  it.each([1, 2, 12, 64, 1000, 1e9])('never piles up on the cap or on the first delay at attempt %d', (attempt) => {
    const backoff = exponential(1000, 2, 900_000);
    for (const jitter of [FULL, FIFTH, DECORRELATED]) {
      let onCap = 0;
      let onFirst = 0;
      for (let at = 0; at < DRAWS; at++) {
        const delayMs = backoffDelay(backoff, jitter, attempt, (n) => draw(`evt-${at}`, n));
        if (delayMs === 900_000) onCap++;
        if (delayMs === 1000) onFirst++;
      }
      expect(Math.max(onCap, onFirst) / DRAWS).toBeLessThan(0.02);
    }
  });

  it('puts no more than 2 % on any second at attempt 12 of a doubling up to 900 s', () => {
    const backoff = exponential(1000, 2, 900_000);
    for (const jitter of [FULL, FIFTH]) {
      const window = delayWindow(backoff, jitter, 12);
      expect(largestShare(window, (at) => backoffDelay(backoff, jitter, 12, (n) => draw(`evt-${at}`, n)))).toBeLessThan(
        0.02,
      );
    }
  });
});

describe('steadyFrom', () => {
  it.each<[string, Backoff, Jitter, number]>([
    ['a list', STANDARD, FIFTH, 3],
    ['a list of one', list(5), FULL, 1],
    ['a doubling up to an hour', exponential(1000, 2, 3_600_000), FIFTH, 13],
    ['no growth', exponential(1000, 1, 3_600_000), NONE, 1],
    ['decorrelated waits', STANDARD, DECORRELATED, 3],
    ['decorrelated waits without room', list(5), DECORRELATED, 1],
  ])('of %s', (_, backoff, jitter, attempt) => {
    expect(steadyFrom(backoff, jitter)).toBe(attempt);
  });

  it('names an attempt after which the window never changes', () => {
    fc.assert(
      fc.property(fc.oneof(exponentials, lists), jitters, fc.nat(1e9), (backoff, jitter, later) => {
        const steady = steadyFrom(backoff, jitter);
        expect(delayWindow(backoff, jitter, steady + later)).toEqual(delayWindow(backoff, jitter, steady));
      }),
      { numRuns: 2000 },
    );
  });
});
