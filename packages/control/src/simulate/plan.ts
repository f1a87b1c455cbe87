import type { ConsumeOptions } from 'lazaret/core';
import type { SimulationSetup, Trouble } from 'lazaret/testing';

export const SCENARIOS = ['outage', 'hang', 'brownout', 'errors'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What is simulated, for all arms alike. */
export interface Plan {
  readonly scenario: Scenario;
  readonly troubleMs: number;
  /** Messages that arrive in a second. */
  readonly perSecond: number;
  readonly instances: number;
  /** Handlers of each instance. */
  readonly concurrency: number;
  /** The first of them; the others follow it. */
  readonly seed: number;
  readonly seeds: number;
  /** Of an arm that never gives up: its calls in a long trouble take long to simulate. */
  readonly tirelessSeeds: number;
}

/** How an arm stands to `Plan.seeds`. */
export interface Simulable {
  readonly policy: ConsumeOptions;
  readonly isTireless: boolean;
}

const TROUBLES: Readonly<Record<Scenario, Trouble>> = {
  outage: { kind: 'outage' },
  hang: { kind: 'hang' },
  brownout: { kind: 'brownout', left: 0.15 },
  errors: { kind: 'errors', share: 0.3 },
};

export const CALM_MS = 30_000;
const LEAST_AFTER_MS = 300_000;
export const SERVERS = 20;
export const SERVICE_MS = 100;
export const CLIENT_TIMEOUT_MS = 2_000;

/** Calls that the dependency can answer in a second: while it is well, and at its worst where it answers at all. */
export const CAPACITY: number = (SERVERS * 1000) / SERVICE_MS;
export const DEGRADED: number = CAPACITY * 0.15;

export function setupOf(plan: Plan, policy: ConsumeOptions, seed: number): SimulationSetup {
  const { scenario, troubleMs, perSecond, instances } = plan;
  return {
    seed,
    policy,
    trouble: TROUBLES[scenario],
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

/** One setup for each seed of an arm. */
export function setupsOf(plan: Plan, { policy, isTireless }: Simulable): readonly SimulationSetup[] {
  const seeds = isTireless ? plan.tirelessSeeds : plan.seeds;
  return Array.from({ length: seeds }, (_, at) => setupOf(plan, policy, plan.seed + at));
}
