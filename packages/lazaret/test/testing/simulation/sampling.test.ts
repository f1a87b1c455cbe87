import { describe, expect, it } from 'vitest';
import { OUTAGE } from '../../../src/testing/simulation/cells.ts';
import type { SimulationSetup } from '../../../src/testing/simulation/contract.ts';
import { factsOf, type Sample, seriesOf } from '../../../src/testing/simulation/sampling.ts';

const SETUP: SimulationSetup = {
  ...OUTAGE,
  calmMs: 10_000,
  troubleMs: 10_000,
  afterMs: 20_000,
  seed: 1,
  policy: {},
};

/** One sample a second, from what is done and called in each second after the calm and the trouble. */
function samples(after: (second: number) => Partial<Sample>, doneAfter = (_: number) => 100): readonly Sample[] {
  const all: Sample[] = [];
  let done = 0;
  for (let at = 0; at <= 40; at++) {
    if (at > 0 && at <= 10) done += 100;
    if (at > 20) done += doneAfter(at - 20);
    all.push({
      done,
      mainDone: done,
      calls: done,
      mainCalls: done,
      limit: 20,
      inFlight: 10,
      open: 0,
      state: 'closed',
      backlog: 10_000,
      ageMs: 0,
      quarantined: 0,
      poisonQuarantined: 0,
      ...after(at - 20),
    });
  }
  return all;
}

const nothing = () => ({});

describe('the facts of a simulation', () => {
  it('are counted in the trouble and after it', () => {
    const facts = factsOf(samples(nothing), SETUP);
    expect(facts).toMatchObject({ callsInTrouble: 0, goodputInTrouble: 0, goodputAfter: 100, peakLoadAfter: 0.5 });
  });

  it.each<[name: string, done: (second: number) => number, backlog: number, recoveredAfterMs: number | undefined]>([
    ['all that it can do, at once', () => 200, 10_000, 5_000],
    ['90 % of what it can do', () => 180, 10_000, 5_000],
    ['less than that, while much waits', () => 179, 10_000, undefined],
    ['the load, while little waits', () => 90, 10, 5_000],
    ['less than the load', () => 89, 10, undefined],
    ['after 7 s', (second) => (second > 7 ? 200 : 0), 10_000, 12_000],
  ])('say when it has recovered: %s', (_, done, backlog, recoveredAfterMs) => {
    expect(
      factsOf(
        samples(() => ({ backlog }), done),
        SETUP,
      ).recoveredAfterMs,
    ).toBe(recoveredAfterMs);
  });

  it('say when nothing waits any more', () => {
    const drained = samples((second) => ({ backlog: second >= 9 ? 10 : 11 }));
    expect(factsOf(drained, SETUP).drainedAfterMs).toBe(9_000);
    expect(factsOf(samples(nothing), SETUP).drainedAfterMs).toBeUndefined();
  });

  it('take the fullest 5 s after the trouble', () => {
    const peak = samples(nothing, (second) => (second > 6 && second <= 11 ? 220 : 100));
    expect(factsOf(peak, SETUP).peakLoadAfter).toBeCloseTo(1.1);
    const short = samples(nothing, (second) => (second === 7 ? 700 : 100));
    expect(factsOf(short, SETUP).peakLoadAfter).toBeCloseTo(1.1);
  });

  it('are told in steps of a second', () => {
    const series = seriesOf(samples(nothing));
    expect(series.stepMs).toBe(1_000);
    expect(series.goodput.slice(8, 12)).toEqual([100, 100, 0, 0]);
    expect(series.backlog).toHaveLength(40);
  });
});
