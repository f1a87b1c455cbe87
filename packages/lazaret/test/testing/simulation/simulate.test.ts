import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { lasting, OUTAGE } from '../../../src/testing/simulation/cells.ts';
import { type SimulationSetup, simulate } from '../../../src/testing/simulation/index.ts';

const MAIN = fileURLToPath(new URL('../../../dist/testing/simulation/main.js', import.meta.url));
const SHORT: SimulationSetup = {
  ...OUTAGE,
  calmMs: 10_000,
  troubleMs: 20_000,
  afterMs: 60_000,
  perSecond: 50,
  poisonShare: 0.01,
  seed: 1,
  policy: { concurrency: 50 },
};

describe('a simulation', () => {
  it('goes the same way again', async () => {
    const [one, two] = [await simulate(SHORT), await simulate(SHORT)];
    expect(two).toEqual(one);
    expect(one.hash).toMatch(/^[0-9a-f]{16}$/);
  });

  it('goes the same way in another process', { timeout: 60_000 }, async () => {
    const few = ['--grid', '--hashes', '--cell', 'two dependencies', '--minutes', '1', '--seeds', '2', '--arm', 'ours'];
    const run = () => promisify(execFile)(process.execPath, [MAIN, ...few]);
    const [{ stdout: one }, { stdout: two }] = await Promise.all([run(), run()]);
    expect(one).toMatch(/ 1 [0-9a-f]{16}\n.* 2 [0-9a-f]{16}\n$/);
    expect(two).toBe(one);
  });

  const CHANGES: readonly Partial<SimulationSetup>[] = [
    { seed: 2 },
    { trouble: { kind: 'hang' } },
    { trouble: { kind: 'brownout', left: 0.1 } },
    { trouble: { kind: 'brownout', left: 0.2 } },
    { trouble: { kind: 'errors', share: 0.3 } },
    { trouble: { kind: 'errors', share: 0.1 } },
    { trouble: { kind: 'bad-deploy' } },
    { calmMs: 11_000 },
    { troubleMs: 40_000 },
    { afterMs: 61_000 },
    { perSecond: 60 },
    { instances: 2 },
    { policy: { concurrency: 50, storm: false } },
    { servers: 19 },
    { serviceMs: 110 },
    { service: 'exponential' },
    { trouble: { kind: 'hang' }, clientTimeoutMs: 1_000 },
    { poisonShare: 0.02 },
    { otherShare: 0.3 },
  ];

  it('gives each part of a setup its effect', async () => {
    const seen = new Map([[(await simulate(SHORT)).hash, {}]]);
    for (const change of CHANGES) {
      const { hash } = await simulate({ ...SHORT, ...change });
      expect({ change, like: seen.get(hash) }).toEqual({ change, like: undefined });
      seen.set(hash, change);
    }
  });

  it('counts every message once, and ends with none left', async () => {
    const run = await simulate(SHORT);
    const { series } = run;
    expect(run.sent).toBeGreaterThan(4_200);
    expect(run.sent).toBeLessThan(4_800);
    expect(run.sent - run.done - run.poisonQuarantined).toBeLessThan(20);
    expect(series.goodput.reduce((sum, done) => sum + done, 0)).toBeCloseTo(run.done, -1);
    expect(series.calls.reduce((sum, calls) => sum + calls, 0)).toBeCloseTo(run.calls, -1);
    expect(new Set(Object.values(series).flatMap((row) => (Array.isArray(row) ? [row.length] : [])))).toEqual(
      new Set([90]),
    );
  });

  it('shows what the breaker does, with its reasons', async () => {
    const { series, events } = await simulate(SHORT);
    expect(series.states.slice(0, 10)).toEqual(new Array(10).fill('closed'));
    expect(series.states[15]).toBe('open');
    expect(series.open[15]).toBe(1);
    expect(series.limit[15]).toBeLessThan(series.limit[9]!);
    expect(series.ageMs[29]).toBeGreaterThan(15_000);
    expect(events[0]).toMatchObject({ what: 'breaker open', why: expect.stringContaining('dependency failures') });
  });

  it('tells the fleet’s instances apart', async () => {
    const { series } = await simulate({ ...SHORT, instances: 3 });
    expect(series.open[20]).toBe(3);
    expect(series.limit[5]).toBeGreaterThanOrEqual(60);
  });

  it('takes steps of 5 s where it lasts longer than 10 minutes', async () => {
    const run = await simulate({ ...SHORT, ...lasting(OUTAGE, 60_000), calmMs: 420_000, perSecond: 5 });
    expect(run.series.stepMs).toBe(5_000);
    expect((await simulate(SHORT)).series.stepMs).toBe(1_000);
  });

  it('refuses a policy that cannot be read', async () => {
    await expect(simulate({ ...SHORT, policy: { concurrency: 0 } })).rejects.toThrow(/LZ1003|concurrency/);
  });
});
