import { describe, expect, it } from 'vitest';
import { RateLimit } from '../../../src/core/storm/rate-limit.ts';

const NUMBERS = { burstMs: 250 };
const TEN_A_SECOND = { count: 10, perMs: 1000 };

describe('a rate limit', () => {
  it('lets everything start where there is none', () => {
    const limit = new RateLimit(NUMBERS, undefined, 0);
    expect([limit.take(1_000_000, 0), limit.waitMs(0), limit.tokens(0)]).toEqual([1_000_000, 0, undefined]);
  });

  it.each([
    [{ burstMs: 250 }, TEN_A_SECOND, 3],
    [{ burstMs: 1000 }, TEN_A_SECOND, 10],
    [{ burstMs: 250 }, { count: 1, perMs: 86_400_000 }, 1],
    [{ burstMs: Number.POSITIVE_INFINITY }, TEN_A_SECOND, 1000],
  ])('with %o of %o lets %d start at once', (numbers, rate, burst) => {
    expect(new RateLimit(numbers, rate, 0).take(1000, 0)).toBe(burst);
  });

  it('goes back to its rate when what a person set is over, and refills from then on', () => {
    const limit = new RateLimit(NUMBERS, TEN_A_SECOND, 0);
    limit.pin({ count: 1, perMs: 1000 }, 10_000, 0);
    expect([limit.take(100, 0), limit.take(100, 900), limit.take(100, 9999)]).toEqual([1, 0, 1]);
    // At 10 s a thousandth of a token was there, at 10.2 s two more.
    expect([limit.take(100, 10_200), limit.take(100, 10_200), limit.waitMs(10_200)]).toEqual([2, 0, 100]);
  });

  it('can be set by hand though it is switched off', () => {
    const limit = new RateLimit({ burstMs: Number.POSITIVE_INFINITY }, TEN_A_SECOND, 0);
    limit.pin(TEN_A_SECOND, 10_000, 0);
    expect([limit.take(100, 0), limit.take(100, 10_000)]).toEqual([10, 100]);
  });
});
