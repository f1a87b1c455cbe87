import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { consumerPolicy } from 'lazaret/core';
import { afterAll, describe, expect, it } from 'vitest';
import { armsOf } from '../../src/simulate/arms.ts';
import { escaped } from '../../src/simulate/escaped.ts';
import { type Plan, SCENARIOS, setupOf } from '../../src/simulate/plan.ts';
import { quantile, type Summary, spreadOf } from '../../src/simulate/summary.ts';
import { plot } from '../../src/simulate/svg-plot.ts';
import { lazaret, workshop } from '../command.ts';

const QUICK = ['--seeds', '2', '--load', '5', '--instances', '1', '--concurrency', '5'];

const place = workshop();
afterAll(() => place.remove());

describe('lazaret simulate', () => {
  it('compares ways to retry, yours among them, and writes a report that stands alone', {
    timeout: 60_000,
  }, async () => {
    const file = join(place.folder, 'report.html');
    const ended = await lazaret(['simulate', ...QUICK, '--max-attempts', '6', '--out', file, '--json'], place);
    expect(ended.exitCode).toBe(0);
    const document = JSON.parse(ended.stdout) as { schema: string; arms: Summary[] };
    expect(document.schema).toBe('lazaret/simulation@1');
    const of = (name: string) => document.arms.find(({ arm }) => arm === name)!;
    expect(document.arms.map(({ arm }) => arm)).toEqual([
      'fixed',
      'exponential',
      'full jitter',
      'bounded',
      'lazaret',
      'yours',
    ]);
    expect(of('bounded').quarantined.median).toBeGreaterThan(100);
    expect([of('lazaret').quarantined.median, of('yours').quarantined.median]).toEqual([0, 0]);
    expect(of('lazaret').callsInTrouble.median).toBeLessThan(of('fixed').callsInTrouble.median! / 50);
    const page = readFileSync(file, 'utf8');
    expect(page).toContain('bounded');
    expect(page).not.toMatch(/<script|https?:\/\/|\surl\(|@import/);
    for (const tag of ['svg', 'figure', 'table', 'g', 'ul', 'main']) {
      expect([tag, page.split(`<${tag}`).length]).toEqual([tag, page.split(`</${tag}>`).length]);
    }
    expect(page).not.toContain('NaN');
    expect(page).not.toContain('Infinity');
  });

  it('says the same whatever its threads do, and another thing of other chances', { timeout: 60_000 }, async () => {
    const run = async (seeds: string) =>
      (await lazaret(['simulate', '--seeds', seeds, ...QUICK.slice(2), '--json'], place)).stdout;
    const [once, twice, other] = [await run('1'), await run('1'), await run('2')];
    expect(once).toBe(twice);
    expect(other).not.toBe(once);
  });

  it('takes a policy from a file, and refuses one that cannot be meant', async () => {
    const policy = join(place.folder, 'policy.json');
    writeFileSync(policy, '{ "maxAttemps": 6 }');
    const refused = await lazaret(['simulate', '--policy', policy], place);
    expect(refused.stderr).toContain("Did you mean 'maxAttempts'?");
    expect(refused.exitCode).not.toBe(0);
    writeFileSync(policy, '[]');
    expect((await lazaret(['simulate', '--policy', policy], place)).stderr).toContain('LZ1301');
    expect((await lazaret(['simulate', '--policy', join(place.folder, 'none.json')], place)).stderr).toContain(
      'LZ1301',
    );
    expect((await lazaret(['simulate', '--timeout', '5'], place)).stderr).toContain('LZ104');
  });
});

describe('what is simulated', () => {
  it('has a policy of each arm that a consumer takes', () => {
    for (const { policy } of armsOf(100, { maxAttempts: 6 })) expect(() => consumerPolicy(policy)).not.toThrow();
    expect(armsOf(100).map(({ name }) => name)).not.toContain('yours');
    expect(armsOf(7).every(({ policy }) => policy.concurrency === 7)).toBe(true);
    expect(armsOf(7, { maxAttempts: 6 }).at(-1)!.policy).toEqual({ concurrency: 7, maxAttempts: 6 });
  });

  it.each(SCENARIOS)('differs by its scenario, load and length: %s', (scenario) => {
    const plan: Plan = {
      scenario,
      troubleMs: 180_000,
      perSecond: 50,
      instances: 4,
      concurrency: 100,
      seed: 1,
      seeds: 3,
      tirelessSeeds: 3,
    };
    expect(setupOf(plan, {}, 2)).toMatchObject({
      seed: 2,
      perSecond: 50,
      instances: 4,
      troubleMs: 180_000,
      trouble: { kind: scenario },
    });
  });
});

describe('what is shown', () => {
  const LINE = { name: '<b>&"\'', style: 0, low: [0, 1, 2], median: [1, 2, 3], high: [2, 3, 1e6] };

  it('makes what others wrote safe', () => {
    const svg = plot({ title: '<x>', unit: '&', scale: 'log', stepMs: 1000, lines: [LINE], trouble: [0, 1000] });
    expect(svg).not.toMatch(/<b>|<x>/);
    expect(escaped(`<a href='"&">`)).toBe('&lt;a href=&#39;&quot;&amp;&quot;&gt;');
  });

  it.each(['linear', 'log'] as const)('keeps every point inside the picture: %s', (scale) => {
    const svg = plot({ title: 't', unit: 'u', scale, stepMs: 60_000, lines: [LINE], trouble: [0, 60_000] });
    const numbers = [...svg.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    expect(numbers.length).toBeGreaterThan(5);
    for (const [x, y] of numbers) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(1000);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(240);
    }
  });

  it.each([
    [[1], 0.5, 1],
    [[1, 3], 0.5, 2],
    [[1, 2, 3, 4, 5], 0.95, 4.8],
    [[1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY], 0.5, Number.POSITIVE_INFINITY],
  ])('takes quantiles of %j at %d', (sorted, share, expected) => {
    expect(quantile(sorted, share)).toBeCloseTo(expected, 9);
  });

  it('spreads figures of which some never came', () => {
    expect(spreadOf([3, 1, 2], 0)).toMatchObject({ median: 2 });
    expect(spreadOf([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY], 0).median).toBeNull();
  });
});
