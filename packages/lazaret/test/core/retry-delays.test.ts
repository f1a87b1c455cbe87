import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Backoff, delayWindow, type Jitter } from '../../src/core/backoff.ts';
import { retryDelays } from '../../src/core/retry-delays.ts';

const SECOND = 1_000;
const list = (...seconds: number[]): Backoff => ({ kind: 'list', delaysMs: seconds.map((s) => s * SECOND) });
const FIFTH: Jitter = { kind: 'proportional', share: 0.2 };
const NONE: Jitter = { kind: 'none' };

describe('the waits that a tier is needed for', () => {
  it.each<[what: string, Backoff, Jitter, maxAttempts: number, seconds: readonly number[]]>([
    ['the seeds of 5, 15 and 45 s', list(5, 15, 45), FIFTH, 6, [12, 15, 18, 36, 45, 54]],
    ['the standard of 2, 8 and 30 s', list(2, 8, 30), FIFTH, 4, [24, 30, 36]],
    ['waits that are all held', list(1, 2, 10), NONE, 4, []],
    ['one wait without jitter', list(600), NONE, 4, [600]],
    ['only as many rungs as are walked', list(20, 40, 80), NONE, 3, [20, 40]],
    ['one attempt', list(20), FIFTH, 1, []],
    ['a window that begins below what is held', list(12), FIFTH, 4, [12.2, 14.4]],
    ['an exponential, capped', { kind: 'exponential', baseMs: 10_000, factor: 3, capMs: 60_000 }, NONE, 9, [30, 60]],
  ])('are right for %s', (_, backoff, jitter, maxAttempts, seconds) => {
    expect(retryDelays({ backoff, jitter, maxAttempts })).toEqual(seconds.map((s) => s * SECOND));
  });

  it('lie close together however wide a jitter is', () => {
    const delays = retryDelays({ backoff: list(1, 3_600), jitter: { kind: 'full' }, maxAttempts: 4 });
    const before = [10_000, ...delays];
    expect(Math.max(...delays.map((ms, i) => ms / before[i]!))).toBeLessThanOrEqual(2.001);
  });

  it('reach as far as the longest wait, and hold nothing that is held', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom<Jitter>(NONE, FIFTH, { kind: 'full' }, { kind: 'decorrelated' }),
        fc.integer({ min: 2, max: 40 }),
        (delaysMs, jitter, maxAttempts) => {
          const backoff: Backoff = { kind: 'list', delaysMs };
          const delays = retryDelays({ backoff, jitter, maxAttempts });
          let longestMs = 0;
          for (let n = 1; n < maxAttempts; n++)
            longestMs = Math.max(longestMs, delayWindow(backoff, jitter, n).ceilingMs);
          expect(delays.at(-1) ?? 10_000).toBe(Math.max(10_000, longestMs));
          expect(delays).toEqual([...new Set(delays)].sort((a, b) => a - b));
          expect(delays.every((ms) => ms > 10_000 && Number.isInteger(ms))).toBe(true);
        },
      ),
    );
  });
});
