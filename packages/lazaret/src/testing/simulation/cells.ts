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
  troubleMs: 3 * MINUTE,
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

/** A situation that is run for a table. */
export interface Cell {
  readonly name: string;
  /** Handlers of each process. */
  readonly pool: number;
  readonly situation: Situation;
}

const POISONED = { poisonShare: 0.01 };
/** What waits after twenty minutes at 150 a second takes an hour at the 50 that are left. */
const BUSY = { perSecond: 150, afterMs: 70 * MINUTE };

/** Everything that storm control has to show. */
export const GRID: readonly Cell[] = [
  ...[100, 400].flatMap((pool) => [
    { name: `outage, pool ${pool}, load 50 %`, pool, situation: OUTAGE },
    { name: `outage, pool ${pool}, load 75 %`, pool, situation: { ...OUTAGE, ...BUSY } },
  ]),
  ...[50, 100, 250, 400].map((pool) => ({ name: `brown-out to 30 %, pool ${pool}`, pool, situation: BROWNOUT })),
  ...[100, 400].map((pool) => ({ name: `hang, pool ${pool}`, pool, situation: HANG })),
  ...[100, 400].map((pool) => ({ name: `30 % errors, pool ${pool}`, pool, situation: ERRORS })),
  // 400 handlers of several processes, each of which sees a part of what happens.
  ...[4, 20].flatMap((instances) => fleet(instances, 400 / instances)),
  { name: 'outage, 1 % poison', pool: 400, situation: { ...OUTAGE, ...POISONED } },
  { name: 'hang, 1 % poison', pool: 400, situation: { ...HANG, ...POISONED } },
  { name: 'brown-out, 1 % poison', pool: 400, situation: { ...BROWNOUT, ...POISONED } },
  { name: '30 % errors, 1 % poison', pool: 400, situation: { ...ERRORS, ...POISONED } },
  { name: 'bad deploy', pool: 400, situation: BAD_DEPLOY },
  { name: '60 % poison, one fingerprint', pool: 400, situation: FLOOD },
  { name: 'two dependencies, one down', pool: 400, situation: TWO_DEPENDENCIES },
];

function fleet(instances: number, pool: number): readonly Cell[] {
  const cell = (what: string, situation: Situation): Cell => ({
    name: `${what}, ${instances} processes of ${pool}`,
    pool,
    situation: { ...situation, instances },
  });
  return [cell('outage', OUTAGE), cell('brown-out to 30 %', BROWNOUT), cell('hang', HANG), cell('30 % errors', ERRORS)];
}

/** Where each mechanism has something to do. */
export const ABLATED: readonly Cell[] = [
  { name: 'outage', pool: 400, situation: OUTAGE },
  { name: 'brown-out to 30 %', pool: 400, situation: BROWNOUT },
  { name: '30 % errors', pool: 400, situation: ERRORS },
  { name: 'bad deploy', pool: 400, situation: BAD_DEPLOY },
  { name: '60 % poison, one fingerprint', pool: 400, situation: FLOOD },
];

/** The same with trouble of another length, and so much less time to catch up. */
export function lasting(situation: Situation, troubleMs: number): Situation {
  const { afterMs } = situation;
  return {
    ...situation,
    troubleMs,
    afterMs: Math.ceil((afterMs * troubleMs) / situation.troubleMs / MINUTE + 2) * MINUTE,
  };
}
