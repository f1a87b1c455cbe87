import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { RetryBudget } from '../../../src/core/storm/retry-budget.ts';

const NUMBERS = STORM.budget;

function spent(budget: RetryBudget, times: number, now = 0): number[] {
  return Array.from({ length: times }, () => budget.spend(NUMBERS.cost, now));
}

describe('the retry budget', () => {
  it('pays ten retries at once, then each further one waits for its tokens', () => {
    const budget = new RetryBudget(NUMBERS, 0);
    expect(spent(budget, 12)).toEqual([...new Array(10).fill(0), 20_000, 20_000]);
  });

  it('waits for tokens as fast as they have been earned lately, and no longer than they would trickle', () => {
    const busy = new RetryBudget({ ...NUMBERS, longestWaitMs: 600_000 }, 0);
    for (let at = 0; at < 30_000; at += 100) busy.earn(1, at);
    // Ten a second, and half a token: of thirty retries each beyond the tenth waits 10 / 10.5 s longer.
    expect(spent(busy, 30, 29_999).at(-1)).toBe(Math.ceil(200_000 / 10.5));
    const quiet = new RetryBudget({ ...NUMBERS, longestWaitMs: 600_000 }, 0);
    expect(spent(quiet, 30).at(-1)).toBe(400_000);
  });

  it('forgets what was earned before its window', () => {
    const budget = new RetryBudget({ ...NUMBERS, longestWaitMs: 600_000 }, 0);
    for (let at = 0; at < 30_000; at += 100) budget.earn(1, at);
    expect(spent(budget, 11, 60_000).at(-1)).toBe(20_000);
  });

  it('pays a hundred retries that the dependency gave a time', () => {
    const budget = new RetryBudget(NUMBERS, 0);
    const waits = Array.from({ length: 101 }, () => budget.spend(NUMBERS.throttledCost, 0));
    expect(waits).toEqual([...new Array(100).fill(0), 2000]);
  });

  it('earns a token with a success, and its cost back with a retry that succeeded', () => {
    const budget = new RetryBudget(NUMBERS, 0);
    spent(budget, 10);
    budget.earn(1, 0);
    expect(budget.tokens(0)).toBe(1);
    budget.earn(2, 0);
    expect(budget.tokens(0)).toBe(12);
  });

  it('trickles, so that retries are never starved', () => {
    const budget = new RetryBudget(NUMBERS, 0);
    spent(budget, 10);
    expect(budget.tokens(20_000)).toBe(10);
    expect(budget.tokens(10_000_000)).toBe(100);
  });

  it('keeps its tokens when time jumps back', () => {
    const budget = new RetryBudget(NUMBERS, 50_000);
    spent(budget, 10, 50_000);
    expect(budget.tokens(0)).toBe(0);
    expect(budget.tokens(2000)).toBe(1);
  });

  it.each([
    ['a trickle', {}],
    ['none', { perSecond: 0 }],
  ])('lets nobody wait longer than is allowed, with %s', (_, change) => {
    const budget = new RetryBudget({ ...NUMBERS, ...change }, 0);
    expect(Math.max(...spent(budget, 1000))).toBe(NUMBERS.longestWaitMs);
  });

  it('owes no more than its longest wait, so that it recovers in that time', () => {
    const budget = new RetryBudget(NUMBERS, 0);
    spent(budget, 1000);
    expect(budget.tokens(NUMBERS.longestWaitMs)).toBe(0);
  });

  it('costs nothing where it is off', () => {
    const budget = new RetryBudget({ ...NUMBERS, cost: 0 }, 0);
    expect(Array.from({ length: 1000 }, () => budget.spend(0, 0)).every((waitMs) => waitMs === 0)).toBe(true);
    expect(budget.tokens(0)).toBe(100);
  });

  it('bounds retries: of those that need not wait, no more than the tokens pay for', () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(30_000), successes: fc.nat(20), retries: fc.nat(30) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (taken) => {
        const budget = new RetryBudget(NUMBERS, 0);
        let now = 0;
        let successes = 0;
        let atOnce = 0;
        for (const { afterMs, successes: more, retries } of taken) {
          now += afterMs;
          for (let i = 0; i < more; i++) budget.earn(1, now);
          successes += more;
          atOnce += spent(budget, retries, now).filter((waitMs) => waitMs === 0).length;
          expect(budget.tokens(now)).toBeLessThanOrEqual(NUMBERS.tokens);
        }
        const tokens = NUMBERS.tokens + successes * NUMBERS.perSuccess + (now / 1000) * NUMBERS.perSecond;
        expect(atOnce * NUMBERS.cost).toBeLessThanOrEqual(tokens + 1e-6);
      }),
      { numRuns: 1000 },
    );
  });
});
