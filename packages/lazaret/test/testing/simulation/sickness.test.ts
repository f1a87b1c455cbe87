import { describe, expect, it } from 'vitest';
import { BROWNOUT, ERRORS } from '../../../src/testing/simulation/cells.ts';
import { simulate } from '../../../src/testing/simulation/simulate.ts';

const POLICY = { concurrency: 400 };
const POISON = { poisonShare: 0.01 };

describe.each([1, 2, 3])('seed %d', (seed) => {
  it('a brown-out to 30 % for 20 minutes leaves the goodput at 95 % of what is left, at least', async () => {
    const run = await simulate({ ...BROWNOUT, ...POISON, seed, policy: POLICY });
    const left = 0.3 * 200;
    expect(run.goodputInTrouble).toBeGreaterThanOrEqual(0.95 * left);
    expect(run.quarantined).toBe(0);
    expect(run.poisonQuarantined).toBe(run.poisonSent);
    expect(run.recoveredAfterMs).toBeLessThanOrEqual(60_000);
    expect(run.peakLoadAfter).toBeLessThanOrEqual(1.05);
    expect(run.drainedAfterMs).toBeDefined();
  }, 60_000);

  it('of 30 % random errors for 20 minutes only poison goes into the quarantine, and everything else is done', async () => {
    const run = await simulate({ ...ERRORS, ...POISON, seed, policy: POLICY });
    expect(run.quarantined).toBe(0);
    expect(run.poisonQuarantined).toBe(run.poisonSent);
    expect(run.goodputInTrouble).toBeGreaterThanOrEqual(0.95 * ERRORS.perSecond * (1 - POISON.poisonShare));
    expect(run.recoveredAfterMs).toBeLessThanOrEqual(60_000);
    expect(run.peakLoadAfter).toBeLessThanOrEqual(1.05);
    expect(run.drainedAfterMs).toBeDefined();
  }, 60_000);
});
