import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import {
  drawScenario,
  happen,
  renderStory,
  runSeeds,
  type Scenario,
  type Story,
} from '../../../src/testing/world/index.ts';
import { isOpen } from './open.ts';

const MAIN = fileURLToPath(new URL('../../../dist/testing/world/main.js', import.meta.url));
const SEEDS = 5_000;

/** What broke, in words, with the one command that shows it. */
function broken({ scenario, violations }: Story): string[] {
  return violations
    .filter((violation) => !isOpen(violation, scenario))
    .map(({ invariant, what, rule }) => `${invariant} ${what}; but ${rule}: node ${MAIN} --seed ${scenario.seed}`);
}

describe('the simulated world', () => {
  it(`breaks no invariant in ${SEEDS} seeds`, { timeout: 180_000 }, async () => {
    const found: string[] = [];
    const campaign = await runSeeds(1, SEEDS, (story) => found.push(...broken(story)));
    expect(found).toEqual([]);
    expect(campaign.seeds).toBe(SEEDS);
    expect([...campaign.reached].filter(([, times]) => times === 0).map(([situation]) => situation)).toEqual([]);
  });

  it('goes the same way twice, step by step, and another way with another seed', async () => {
    const [once, twice, other] = [await seed(7), await seed(7), await seed(8)];
    expect(once.trace.steps).toEqual(twice.trace.steps);
    expect(once.trace.hash).toBe(twice.trace.hash);
    expect(other.trace.hash).not.toBe(once.trace.hash);
  });

  it('goes the same way in another process', { timeout: 60_000 }, async () => {
    const run = () => promisify(execFile)(process.execPath, [MAIN, '--from', '1', '--count', '40', '--hashes']);
    const [{ stdout: one }, { stdout: two }] = await Promise.all([run(), run()]);
    const hashes = (text: string) => text.split('\n').filter((line) => /^\d+ [0-9a-f]{16}$/.test(line));
    expect(hashes(one)).toHaveLength(40);
    expect(hashes(two)).toEqual(hashes(one));
  });

  it('touches no clock, chance or timer of this process', async () => {
    const touched: string[] = [];
    const trap = <T extends object>(object: T, name: keyof T & string) => {
      const real = object[name] as (...args: unknown[]) => unknown;
      const spy = vi.spyOn(object as Record<string, (...args: unknown[]) => unknown>, name);
      spy.mockImplementation((...args) => {
        const caller = new Error().stack!.split('\n').find((line) => line.includes('/lazaret/src/'));
        if (caller !== undefined) touched.push(`${name} ${caller.trim()}`);
        return real.apply(object, args);
      });
    };
    try {
      trap(Date, 'now');
      trap(Math, 'random');
      trap(performance, 'now');
      trap(globalThis, 'setTimeout');
      trap(globalThis, 'setInterval');
      trap(crypto, 'randomUUID');
      for (const n of [1, 2, 3, 4, 5, 6]) await seed(n);
    } finally {
      vi.restoreAllMocks();
    }
    expect(touched).toEqual([]);
  });

  it('tells a story that a reader can follow, whole or of one message', async () => {
    const story = await seed(1);
    const whole = renderStory(story);
    expect(whole).toContain('0.000 s  p0.0            starts');
    expect(whole).toContain('starts the handler: attempt 1');
    expect(whole).toContain(`trace ${story.trace.hash}`);
    const { index } = story.scenario.messages[0]!;
    const others = story.scenario.messages.filter((message) => message.index !== index);
    const [, ...steps] = renderStory(story, index).split('starts\n');
    for (const other of others) expect(steps.join('')).not.toContain(` m${other.index} `);
  });

  it('gives each option of a scenario its effect', async () => {
    const scenario = drawScenario(5);
    const changes: readonly Partial<Scenario>[] = [
      { processes: scenario.processes + 1 },
      { latencyMs: [1, 9] },
      { latenessMs: 13 },
      { skewMs: 500, server: { shape: 'log', limits: { maxDelayMs: 200 } } },
      { waitMs: scenario.waitMs + 111 },
      { quietAt: scenario.quietAt + 5_000 },
      { faults: [{ at: 900, kind: 'kill', slot: 0, downMs: 100 }] },
      { messages: scenario.messages.slice(1) },
    ];
    const hashes = new Set([(await happen(scenario)).trace.hash]);
    for (const change of changes) hashes.add((await happen({ ...scenario, ...change })).trace.hash);
    expect(hashes.size).toBe(changes.length + 1);
  });
});

function seed(n: number): Promise<Story> {
  return happen(drawScenario(n));
}
