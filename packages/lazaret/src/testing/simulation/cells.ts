import type { SimulationSetup, Trouble } from './contract.ts';

/** A situation: everything but the seed and the policy. */
export type Situation = Omit<SimulationSetup, 'seed' | 'policy'>;

const MINUTE = 60_000;

/** 100 messages a second against a dependency that serves 200. */
const HALF_LOADED: Omit<Situation, 'trouble' | 'troubleMs' | 'afterMs'> = {
  calmMs: MINUTE,
  perSecond: 100,
  instances: 1,
  servers: 20,
  serviceMs: 100,
  clientTimeoutMs: 2_000,
  poisonShare: 0,
  otherShare: 0,
};

/** What lets everything be as it is. */
const NONE: Trouble = { kind: 'errors', share: 0 };

/** Twenty minutes, and the time that it takes to catch up. */
export const OUTAGE: Situation = {
  ...HALF_LOADED,
  trouble: { kind: 'outage' },
  troubleMs: 20 * MINUTE,
  afterMs: 22 * MINUTE,
};

export const HANG: Situation = { ...OUTAGE, trouble: { kind: 'hang' } };

export const BROWNOUT: Situation = { ...OUTAGE, trouble: { kind: 'brownout', left: 0.3 }, afterMs: 10 * MINUTE };

export const ERRORS: Situation = { ...OUTAGE, trouble: { kind: 'errors', share: 0.3 }, afterMs: 5 * MINUTE };

/** Every message fails with an error that says nothing, until somebody mends it. */
export const BAD_DEPLOY: Situation = {
  ...HALF_LOADED,
  trouble: { kind: 'bad-deploy' },
  troubleMs: 5 * MINUTE,
  afterMs: 20 * MINUTE,
};

/** More than half of the messages can never succeed. */
export const FLOOD: Situation = {
  ...HALF_LOADED,
  trouble: NONE,
  troubleMs: 5 * MINUTE,
  afterMs: 0,
  poisonShare: 0.6,
};

/** Half of the messages need another dependency than the one that is down. */
export const TWO_DEPENDENCIES: Situation = {
  ...HALF_LOADED,
  trouble: { kind: 'outage' },
  troubleMs: 5 * MINUTE,
  afterMs: 6 * MINUTE,
  otherShare: 0.5,
};

/**
 * What fixed waits of `waitMs` for ever cost: calls in an outage whose every call fails after `failsAfterMs`, by arithmetic. All who
 * came so far call once in each wait, as far as the pool lets them.
 */
export function callsOfFixedWaits(situation: Situation, pool: number, waitMs: number, failsAfterMs: number): number {
  const { perSecond, troubleMs } = situation;
  const most = (pool * 1_000) / failsAfterMs;
  let calls = 0;
  for (let second = 0; second < troubleMs / 1_000; second++)
    calls += Math.min(most, (perSecond * (second + 0.5) * 1_000) / (waitMs + failsAfterMs));
  return Math.round(calls);
}
