import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandOf, quantile, spreadOf, summaryOf } from '../../src/simulate/summary.ts';
import { fakeRun } from './fake-run.ts';

const ARM = { name: 'ours', says: 'the defaults', policy: {}, isTireless: false };

describe('a quantile', () => {
  it.each([
    [[7], 0.05, 7],
    [[1, 3], 0.5, 2],
    [[1, 2, 4], 0.5, 2],
    [[0, 10], 0.05, 0.5],
    [[1, 2, Number.POSITIVE_INFINITY], 0.95, Number.POSITIVE_INFINITY],
  ])('of %j at %d is %d', (sorted, share, value) => {
    expect(quantile(sorted, share)).toBeCloseTo(value);
  });

  it('lies between the least and the most, and grows with its share', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (some, share) => {
        const sorted = some.sort((a, b) => a - b);
        const value = quantile(sorted, share);
        expect(value).toBeGreaterThanOrEqual(sorted[0]! - 1e-6);
        expect(value).toBeLessThanOrEqual(sorted.at(-1)! + 1e-6);
        expect(quantile(sorted, 1)).toBeGreaterThanOrEqual(value - 1e-6);
      }),
    );
  });
});

describe('a summary', () => {
  it('has the median and how far it spreads', () => {
    const runs = [3, 1, 2].map((quarantined) => fakeRun({ quarantined: quarantined * 100 }));
    expect(summaryOf(ARM, runs)).toMatchObject({ seeds: 3, quarantined: { low: 110, median: 200, high: 290 } });
  });

  it('says that something never happened as soon as half of the seeds say so', () => {
    const never = fakeRun({ drainedAfterMs: undefined });
    const soon = fakeRun({ drainedAfterMs: 7_000 });
    expect(summaryOf(ARM, [never, soon, soon]).drainedAfterMs).toEqual({ low: 7_000, median: 7_000, high: null });
    expect(summaryOf(ARM, [never, never, soon]).drainedAfterMs).toMatchObject({ median: null });
  });

  it('divides no calls by nothing', () => {
    expect(summaryOf(ARM, [fakeRun({ done: 0, calls: 90 })]).callsPerSuccess.median).toBeNull();
    expect(summaryOf(ARM, [fakeRun({ done: 30, calls: 100 })]).callsPerSuccess.median).toBe(3.33);
  });

  it('rounds to the digits that were asked for', () => {
    expect(spreadOf([1.26], 1).median).toBe(1.3);
    expect(spreadOf([1.26], 0).median).toBe(1);
  });
});

describe('a band', () => {
  it('goes step by step over all seeds, as far as all of them go', () => {
    const series = [
      [1, 9],
      [2, 8],
      [3, 7, 5],
    ].map((goodput) => fakeRun({}, { goodput }).series);
    expect(bandOf(series, 'goodput').median).toEqual([2, 8]);
    expect(bandOf(series, 'goodput').low).toEqual([1.1, 7.1]);
  });
});
