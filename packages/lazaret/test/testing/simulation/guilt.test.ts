import { describe, expect, it } from 'vitest';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { BAD_DEPLOY, FLOOD, TWO_DEPENDENCIES } from '../../../src/testing/simulation/cells.ts';
import type { SimulationRun } from '../../../src/testing/simulation/contract.ts';
import { simulate } from '../../../src/testing/simulation/simulate.ts';

const POOL = 400;
const POLICY = { concurrency: POOL };
/** What may be in the quarantine before the fuse trips, and what was in flight then. */
const FUSE = STORM.fuse.least + POOL;

const first = (run: SimulationRun, wanted: string) => run.events.find(({ what }) => what === wanted);

describe.each([1, 2, 3])('seed %d', (seed) => {
  it('a bad deploy pauses the queue within 30 s of flow, and says why', async () => {
    const run = await simulate({ ...BAD_DEPLOY, seed, policy: POLICY });
    const paused = first(run, 'paused')!;
    expect(paused.atMs - BAD_DEPLOY.calmMs).toBeLessThanOrEqual(30_000);
    expect(paused.why).toMatch(/\d+ of the last \d+ messages failed with v1:/);
    expect(run.quarantined).toBeLessThanOrEqual(FUSE);
    expect(run.drainedAfterMs).toBeDefined();
  }, 60_000);

  it('a bad deploy that makes poison of every message pauses the queue within 30 s of flow, and says why', async () => {
    const run = await simulate({ ...FLOOD, poisonShare: 1, seed, policy: POLICY });
    const paused = first(run, 'paused')!;
    expect(paused.atMs).toBeLessThanOrEqual(30_000);
    expect(paused.why).toMatch(/\d+ of (the last )?\d+ outcomes .*were letters of v1:/);
    expect(run.poisonQuarantined).toBeGreaterThan(0);
    expect(run.poisonQuarantined).toBeLessThanOrEqual(FUSE);
  }, 60_000);

  it('of 60 % poison with one fingerprint only the first go into the quarantine, while the healthy 40 % flow', async () => {
    const run = await simulate({ ...FLOOD, seed, policy: POLICY });
    expect(first(run, 'fused')?.why).toMatch(/letters of v1:/);
    expect(first(run, 'paused')).toBeUndefined();
    expect(run.poisonQuarantined).toBeLessThanOrEqual(FUSE);
    expect(run.quarantined).toBe(0);
    expect(run.goodputInTrouble).toBeGreaterThanOrEqual(0.95 * 0.4 * FLOOD.perSecond);
    expect(run.series.goodput.slice(30).every((goodput) => goodput > 0)).toBe(true);
  }, 60_000);

  it('messages of another dependency flow on while one is down', async () => {
    const run = await simulate({ ...TWO_DEPENDENCIES, seed, policy: POLICY });
    expect(run.goodputInTrouble).toBeGreaterThanOrEqual(0.95 * 0.5 * TWO_DEPENDENCIES.perSecond);
    expect(run.quarantined).toBe(0);
    expect(run.recoveredAfterMs).toBeLessThanOrEqual(60_000);
    expect(run.drainedAfterMs).toBeDefined();
    expect(first(run, 'breaker open for payments')).toBeDefined();
    expect(first(run, 'breaker open for stock')).toBeUndefined();
  }, 60_000);
});
