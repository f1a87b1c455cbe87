import { describe, expect, it } from 'vitest';
import { runAll } from '../../dist/simulate/threads.js';
import { armsOf } from '../../src/simulate/arms.ts';
import { setupsOf } from '../../src/simulate/plan.ts';
import { PLAN } from './fake-run.ts';

const SMALL = { ...PLAN, perSecond: 3, instances: 1, concurrency: 2, troubleMs: 10_000, seeds: 2, tirelessSeeds: 2 };

describe('simulations in threads', () => {
  it('answer in their order, and the same however many threads there are', async () => {
    const setups = armsOf(SMALL.concurrency)
      .slice(2)
      .flatMap((arm) => setupsOf(SMALL, arm));
    const counts: number[] = [];
    const alone = await runAll(setups, (done) => counts.push(done), 1);
    const together = await runAll(setups, () => {}, 3);
    expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
    expect(alone.map(({ setup }) => setup.seed)).toEqual([1, 2, 1, 2, 1, 2]);
    expect(new Set(alone.map(({ hash }) => hash)).size).toBe(6);
    expect(together.map(({ hash }) => hash)).toEqual(alone.map(({ hash }) => hash));
  });

  it('say what cannot be simulated', async () => {
    const [setup] = setupsOf(SMALL, { policy: { maxAttempts: 0 }, isTireless: false });
    await expect(runAll([setup!], () => {}, 1)).rejects.toThrow(/this cannot be simulated: LZ1003/);
  });
});
