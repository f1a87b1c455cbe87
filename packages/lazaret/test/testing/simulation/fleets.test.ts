import { describe, expect, it } from 'vitest';
import { BROWNOUT, ERRORS, HANG, lasting, OUTAGE } from '../../../src/testing/simulation/cells.ts';
import type { SimulationSetup } from '../../../src/testing/simulation/contract.ts';
import { simulate } from '../../../src/testing/simulation/simulate.ts';

const MINUTES = 5;
const POISON_SHARE = 0.01;

/** The same 400 handlers: what one process does must not depend on how many others do the same. */
describe.each([
  [4, 100],
  [20, 20],
])('%d processes with %d handlers', (instances, concurrency) => {
  const run = (situation: Omit<SimulationSetup, 'seed' | 'policy'>) =>
    simulate({
      ...lasting(situation, MINUTES * 60_000),
      poisonShare: POISON_SHARE,
      instances,
      seed: 1,
      policy: { concurrency },
    });

  it.each([
    ['an outage', OUTAGE, 0],
    ['a hang', HANG, 0],
    ['a brown-out to 30 %', BROWNOUT, 0.3 * 200],
    ['30 % random errors', ERRORS, ERRORS.perSecond * (1 - POISON_SHARE)],
  ])(
    'come through %s as one process does',
    async (_, situation, possible) => {
      const facts = await run(situation);
      expect(facts.goodputInTrouble).toBeGreaterThanOrEqual(0.95 * possible);
      expect(facts.quarantined).toBe(0);
      expect(facts.poisonQuarantined).toBe(facts.poisonSent);
      expect(facts.recoveredAfterMs).toBeLessThanOrEqual(60_000);
      expect(facts.peakLoadAfter).toBeLessThanOrEqual(1.05);
      expect(facts.drainedAfterMs).toBeDefined();
    },
    60_000,
  );
});
