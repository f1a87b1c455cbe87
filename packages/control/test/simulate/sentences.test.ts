import { describe, expect, it } from 'vitest';
import { armsOf } from '../../src/simulate/arms.ts';
import { eventOf, headline, premise, verdict } from '../../src/simulate/sentences.ts';
import { summaryOf } from '../../src/simulate/summary.ts';
import { fakeRun, PLAN } from './fake-run.ts';

/** What each arm quarantined; the last is yours, where there are six. */
function summaries(quarantined: readonly number[]) {
  const arms = armsOf(25, quarantined.length === 6 ? {} : undefined);
  return arms.map((arm, at) => summaryOf(arm, [fakeRun({ quarantined: quarantined[at]! })]));
}

describe('the headline', () => {
  it.each([
    [
      [0, 0, 0, 7000, 0, 1204],
      "With your policy a 3-minute outage puts 1,204 healthy messages into the quarantine; with Lazaret's defaults none.",
    ],
    [
      [0, 0, 0, 7000, 0],
      "With bounded retries alone a 3-minute outage puts 7,000 healthy messages into the quarantine; with Lazaret's defaults none.",
    ],
    [
      [0, 0, 0, 7000, 12, 1],
      "With your policy a 3-minute outage puts 1 healthy message into the quarantine; with Lazaret's defaults 12.",
    ],
    [
      [0, 0, 0, 7000, 0, 0],
      "Neither with your policy nor with Lazaret's defaults does a 3-minute outage put a healthy message into the quarantine; they make 9,000 and 9,000 calls in it.",
    ],
    [
      [0, 0, 0, 7000, 3, 0],
      "With your policy a 3-minute outage puts no healthy message into the quarantine; with Lazaret's defaults 3.",
    ],
  ])('of %j quarantined is a sentence', (quarantined, sentence) => {
    expect(headline(PLAN, summaries(quarantined))).toBe(sentence);
  });
});

describe('the premise', () => {
  it('says all that decides the figures', () => {
    expect(premise({ ...PLAN, perSecond: 77, instances: 3, concurrency: 11 })).toBe(
      'A 3-minute outage (every call fails after 20 ms) of a dependency that answers 200 calls/s, at 77 messages/s; 3 × 11 handlers; medians of 3 seeds.',
    );
    expect(premise({ ...PLAN, seeds: 1 })).toMatch(/one seed\.$/);
    expect(eventOf({ ...PLAN, scenario: 'brownout', troubleMs: 1_200_000 })).toBe('a 20-minute brown-out');
  });
});

describe('a verdict', () => {
  const [arm] = armsOf(25);
  it.each([
    [{ drainedAfterMs: 59_000 }, 'caught up 59s after it.'],
    [{ drainedAfterMs: 0 }, 'nothing to catch up on.'],
    [{ drainedAfterMs: undefined, recoveredAfterMs: undefined }, 'it never recovered.'],
    [{ drainedAfterMs: undefined }, 'it had not caught up when the simulation ended.'],
  ])('on %j ends with its recovery', (change, end) => {
    expect(verdict(summaryOf(arm!, [fakeRun(change)]))).toBe(
      `fixed (every 5 s, for ever): no healthy message quarantined; ${end}`,
    );
  });
});
