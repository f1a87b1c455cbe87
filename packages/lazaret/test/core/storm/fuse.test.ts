import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fuse } from '../../../src/core/storm/fuse.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';

const NUMBERS = STORM.fuse;
const MINUTE = 60_000;
const fuse = (change: Partial<typeof NUMBERS> = {}) => new Fuse({ ...NUMBERS, ...change });

function others(made: Fuse, count: number, now = 0): void {
  for (let i = 0; i < count; i++) made.ended(now);
}

/** Answers how many went into the quarantine. */
function letters(made: Fuse, count: number, now = 0, fingerprint = 'v1:a'): number {
  let passed = 0;
  for (let i = 0; i < count; i++) {
    made.ended(now);
    if (made.letter(fingerprint, now).fusedAt === undefined) passed++;
  }
  return passed;
}

describe('the quarantine fuse', () => {
  it('lets a hundred letters through, and no more of that fingerprint', () => {
    const made = fuse();
    expect(letters(made, 500)).toBe(100);
    expect(letters(made, 50, 0, 'v1:b')).toBe(50);
    expect(made.tripped().map(({ fingerprint }) => fingerprint)).toEqual(['v1:a']);
  });

  it('lets everything through that is less than a fifth of the outcomes', () => {
    const made = fuse();
    let passed = 0;
    for (let i = 0; i < 1000; i++) {
      others(made, 5);
      passed += letters(made, 1);
    }
    expect(passed).toBe(1000);
  });

  it('trips when the share reaches a fifth, long after the hundred', () => {
    const made = fuse();
    for (let i = 0; i < 120; i++) {
      others(made, 4);
      letters(made, 1);
    }
    others(made, 10);
    expect(made.tripped()).toEqual([]);
    // The last hundred of them lie among 507 outcomes, then among 503, then among 499.
    expect(letters(made, 10)).toBe(2);
  });

  it('sees a flood at once that begins in a busy queue', () => {
    const made = fuse();
    others(made, 30_000);
    expect(letters(made, 500)).toBe(100);
  });

  it('takes no burst of what it holds back for a larger flood', () => {
    const made = fuse();
    for (let i = 0; i < 100; i++) {
      others(made, 2);
      letters(made, 1);
    }
    made.ended(0);
    expect(made.letter('v1:a', 0)).toMatchObject({ change: 'fused', flood: false });
    others(made, 1000);
    for (let i = 0; i < 200; i++) {
      made.ended(0);
      expect(made.letter('v1:a', 0).flood).toBe(false);
    }
  });

  it('tells once that it is fused, and why', () => {
    const made = fuse();
    letters(made, 100);
    made.ended(0);
    expect(made.letter('v1:a', 0)).toEqual({
      fusedAt: 0,
      change: 'fused',
      flood: true,
      why: '100 of the last 101 outcomes were letters of v1:a',
    });
    made.ended(0);
    expect(made.letter('v1:a', 0).change).toBeUndefined();
  });

  it.each([
    [10, true],
    [11, true],
    [12, false],
  ])('calls it a flood at nine tenths: %d others', (count, flood) => {
    const made = fuse();
    letters(made, 1);
    others(made, count - 1);
    letters(made, 99);
    made.ended(0);
    expect(made.letter('v1:a', 0).flood).toBe(flood);
  });

  it('forgets letters after five minutes', () => {
    const made = fuse();
    expect(letters(made, 99, 0)).toBe(99);
    expect(letters(made, 99, 5 * MINUTE)).toBe(99);
  });

  it('stays for as long as those held back keep coming', () => {
    const made = fuse();
    letters(made, 100);
    for (let minute = 0; minute < 60; minute++) {
      others(made, 10, minute * MINUTE);
      expect(letters(made, 5, minute * MINUTE)).toBe(0);
    }
  });

  it('ends when the share has been clear for five minutes', () => {
    const made = fuse();
    letters(made, 150);
    for (let minute = 1; minute <= 5; minute++) others(made, 1000, minute * MINUTE);
    // The share fell in the first minute, and was last seen too large at 0.
    expect(made.settle(5 * MINUTE - 1)).toEqual([]);
    expect(made.settle(5 * MINUTE)).toEqual(['v1:a']);
    expect(letters(made, 5, 5 * MINUTE)).toBe(5);
  });

  it('ends also where nothing comes any more', () => {
    const made = fuse();
    letters(made, 150);
    expect(made.settle(20 * MINUTE)).toEqual(['v1:a']);
    expect(made.tripped()).toEqual([]);
  });

  it('ends at the next letter, if nobody settled it before', () => {
    const made = fuse();
    letters(made, 150);
    made.ended(20 * MINUTE);
    expect(made.letter('v1:a', 20 * MINUTE)).toMatchObject({ fusedAt: undefined, change: 'cleared' });
  });

  it('does not hold a last few back for ever', () => {
    const made = fuse();
    letters(made, 100);
    let passed = 0;
    for (let minute = 1; minute <= 12; minute++) passed += letters(made, 2, minute * MINUTE);
    expect(passed).toBeGreaterThan(0);
  });

  it('is reset by hand, and counts anew', () => {
    const made = fuse();
    letters(made, 150);
    expect([made.reset('v1:a'), made.reset('v1:a'), made.reset('v1:unheard-of')]).toEqual([true, false, false]);
    expect(letters(made, 150)).toBe(100);
  });

  it('keeps what is fused when it begins to count anew', () => {
    const made = fuse();
    letters(made, 150);
    made.forget();
    expect(letters(made, 1)).toBe(0);
  });

  it.each<[name: string, change: Partial<typeof NUMBERS>, passed: number]>([
    ['as they are', {}, 100],
    ['another minimum', { least: 10 }, 10],
    ['another share', { share: 0.985 }, 101],
    ['never', { least: Number.POSITIVE_INFINITY }, 401],
  ])('obeys its numbers: %s', (_, change, passed) => {
    const made = fuse(change);
    others(made, 99);
    letters(made, 1);
    others(made, 1);
    expect(1 + letters(made, 400)).toBe(passed);
  });

  it('obeys its other numbers', () => {
    const after = (change: Partial<typeof NUMBERS>, act: (made: Fuse) => unknown) => {
      const made = fuse(change);
      letters(made, 150);
      return act(made);
    };
    const settled = (made: Fuse) => made.settle(6 * MINUTE).length;
    expect([after({}, settled), after({ clearMs: 7 * MINUTE }, settled)]).toEqual([1, 0]);
    expect([after({}, settled), after({ windowMs: 60 * MINUTE }, settled)]).toEqual([1, 0]);
    const flooded = (made: Fuse) => {
      others(made, 20);
      return made.letter('v1:a', 0).flood;
    };
    expect([after({ pauseShare: 0.8 }, flooded), after({ pauseShare: 0.9 }, flooded)]).toEqual([true, false]);
    const kept = (made: Fuse) => {
      made.forget();
      letters(made, 10, MINUTE);
      made.settle(5.5 * MINUTE);
      return made.tripped().length;
    };
    expect([after({}, kept), after({ leastToStay: 1 }, kept)]).toEqual([0, 1]);
  });

  it('tells only so many fingerprints apart', () => {
    const passed = (fingerprints: number) => {
      const made = fuse({ fingerprints });
      return Array.from({ length: 300 }, (_, i) => letters(made, 1, 0, `v1:${i % 2}`)).reduce((a, b) => a + b, 0);
    };
    expect([passed(2), passed(1)]).toEqual([200, 300]);
  });

  it('never trips below its minimums, and then holds each letter back', () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(40_000), others: fc.nat(60), letters: fc.nat(60) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const made = fuse();
        let now = 0;
        const outcomes: number[] = [];
        const seen: number[] = [];
        for (const step of all) {
          now += step.afterMs;
          others(made, step.others, now);
          for (let i = 0; i < step.others; i++) outcomes.push(now);
          for (let i = 0; i < step.letters; i++) {
            made.ended(now);
            outcomes.push(now);
            const { change } = made.letter('v1:a', now);
            // The window is five minutes, or up to one bucket of ten seconds less.
            const within = (times: readonly number[], ms: number) => times.filter((at) => now - at < ms).length;
            if (change === 'fused') {
              expect(within(seen, 5 * MINUTE)).toBeGreaterThanOrEqual(NUMBERS.least);
              expect(within(seen, 5 * MINUTE) / within(outcomes, 290_000)).toBeGreaterThanOrEqual(NUMBERS.share);
            }
            seen.push(now);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
