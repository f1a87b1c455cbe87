import { describe, expect, it } from 'vitest';
import { callsOfFixedWaits, HANG, OUTAGE } from '../../../src/testing/simulation/cells.ts';
import { simulate } from '../../../src/testing/simulation/simulate.ts';

const POOL = 400;
const POISON = { poisonShare: 0.01 };

describe.each([1, 2, 3])('seed %d', (seed) => {
  it.each([
    ['fails', OUTAGE],
    ['hangs', HANG],
  ])(
    'a dependency that %s for 20 minutes costs no healthy message, hardly a call, and a minute',
    async (_, situation) => {
      const run = await simulate({ ...situation, ...POISON, seed, policy: { concurrency: POOL } });
      expect(run.quarantined).toBe(0);
      expect(run.poisonQuarantined).toBe(run.poisonSent);
      expect(run.callsInTrouble).toBeLessThanOrEqual(0.01 * callsOfFixedWaits(OUTAGE, POOL, 5_000, 20));
      expect(run.recoveredAfterMs).toBeLessThanOrEqual(60_000);
      expect(run.peakLoadAfter).toBeLessThanOrEqual(1.05);
      expect(run.drainedAfterMs).toBeDefined();
      expect(run.sent - run.done - run.poisonQuarantined).toBeLessThan(100);
      expect(run.series.ageMs.at(-1)).toBeLessThan(2_000);
    },
    60_000,
  );
});
