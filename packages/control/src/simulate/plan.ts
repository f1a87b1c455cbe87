import type { ConsumeOptions } from 'lazaret/core';
import type { SimulationSetup } from 'lazaret/testing';

export const SCENARIOS = ['outage', 'hang', 'brownout', 'errors'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What is simulated, for all arms alike. */
export interface Plan {
  readonly scenario: Scenario;
  readonly troubleMs: number;
  readonly perSecond: number;
  readonly instances: number;
  readonly seeds: number;
}

const TROUBLE: Readonly<Record<Scenario, SimulationSetup['trouble']>> = {
  outage: { kind: 'outage' },
  hang: { kind: 'hang' },
  brownout: { kind: 'brownout', left: 0.3 },
  errors: { kind: 'errors', share: 0.3 },
};

/** What happens to the dependency, in words. */
export const SAYS: Readonly<Record<Scenario, string>> = {
  outage: 'every call fails at once',
  hang: 'no call is answered',
  brownout: 'it serves 30 % of what it could',
  errors: '30 % of calls fail at random',
};

const CALM_MS = 30_000;
const LEAST_AFTER_MS = 300_000;
export const SERVERS = 20;
export const SERVICE_MS = 100;
export const CLIENT_TIMEOUT_MS = 2_000;

/** Calls that the dependency can answer in a second: while it is well, and at its worst where it answers at all. */
export const CAPACITY: number = (SERVERS * 1000) / SERVICE_MS;

export function setupOf(
  { scenario, troubleMs, perSecond, instances }: Plan,
  policy: ConsumeOptions,
  seed: number,
): SimulationSetup {
  return {
    seed,
    policy,
    trouble: TROUBLE[scenario],
    calmMs: CALM_MS,
    troubleMs,
    afterMs: Math.max(LEAST_AFTER_MS, troubleMs),
    perSecond,
    instances,
    servers: SERVERS,
    serviceMs: SERVICE_MS,
    clientTimeoutMs: CLIENT_TIMEOUT_MS,
    poisonShare: 0,
    otherShare: 0,
  };
}
