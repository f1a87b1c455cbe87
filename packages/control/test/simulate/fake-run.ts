import type { SimulationRun, SimulationSeries } from 'lazaret/testing';
import { type Plan, setupOf } from '../../src/simulate/plan.ts';

export const PLAN: Plan = {
  scenario: 'outage',
  troubleMs: 180_000,
  perSecond: 50,
  instances: 4,
  concurrency: 25,
  seed: 1,
  seeds: 3,
  tirelessSeeds: 3,
};

const STEPS = 510;

/** A run that was never simulated: quiet, but for what is said. */
export function fakeRun(
  change: Partial<SimulationRun> = {},
  series: Partial<SimulationSeries> = {},
  steps: number = STEPS,
): SimulationRun {
  const { policy: _, ...setup } = setupOf(PLAN, {}, 1);
  const flat = (value: number) => Array.from({ length: steps }, () => value);
  return {
    setup,
    series: {
      stepMs: 1_000,
      goodput: flat(50),
      calls: flat(50),
      limit: flat(100),
      inFlight: flat(5),
      open: flat(0),
      states: Array.from({ length: steps }, () => 'closed' as const),
      backlog: flat(0),
      ageMs: flat(0),
      quarantined: flat(0),
      poisonQuarantined: flat(0),
      ...series,
    },
    sent: 25_000,
    done: 25_000,
    outcomes: 25_000,
    calls: 25_000,
    callsInTrouble: 9_000,
    quarantined: 0,
    poisonSent: 0,
    poisonQuarantined: 0,
    goodputInTrouble: 50,
    goodputAfter: 50,
    recoveredAfterMs: 5_000,
    drainedAfterMs: 0,
    peakLoadAfter: 0.3,
    events: [],
    hash: '0',
    ...change,
  };
}
