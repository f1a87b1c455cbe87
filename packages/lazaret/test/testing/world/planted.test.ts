import { describe, expect, it } from 'vitest';
import { PLANTED_FAULTS } from '../../../src/testing/planted-faults.ts';
import {
  drawScenario,
  happen,
  type Invariant,
  type Scenario,
  type Story,
  shrink,
} from '../../../src/testing/world/index.ts';
import { isOpen } from './open.ts';

const SEEDS_AT_MOST = 2_000;

/** Drivers that are wrong in one thing, and the invariant that has to notice. */
const FOUND_BY: readonly (readonly [name: string, invariant: Invariant])[] = [
  ['a pull brings more than was asked for', 'M6'],
  ['a pull of an empty queue is never answered', 'M10'],
  ['a pull that waits is not woken', 'M10'],
  ['a message is handed out twice', 'M3'],
  ['leases never end', 'M10'],
  ['the order of keys is not kept', 'order'],
  ['a pull brings suspects', 'M6'],
  ['nobody is told of suspects', 'M10'],
  ['suspects that are gone are not told', 'M10'],
  ['a start is not durable when begin answers', 'M7'],
  ['a suspect is begun among others', 'M7'],
  ['attempts are counted from 0', 'M4'],
  ['strikes are never counted', 'M7'],
  ['strikes outlive an outcome', 'M6'],
  ['a vanished owner spends an attempt', 'M4'],
  ['the attempt begins anew with every retry', 'M10'],
  ['attempts go on beyond the last', 'M4'],
  ['the time before which a staged message is not due stays with it', 'M5'],
  ['nothing says that a key is dead', 'order'],
  ['an ack is answered, and not done', 'M2'],
  ['a release is charged', 'M4'],
  ['a release counts as a strike', 'M7'],
  ['a retry comes back early', 'M5'],
  ['the time before which a staged message is not due gets lost', 'M5'],
  ['a dead letter is acknowledged, and not written', 'M1'],
  ['a dead letter is written, and its message stays', 'M10'],
  ['an extension is answered, and not done', 'M10'],
  ['what is given back keeps its start', 'M10'],
  ['a charge is forgotten when the message is held', 'M10'],
  ['a consumer does not come back after a cut', 'M10'],
  ['a pull stays open over close', 'M10'],
  ['a queue is read by a prefix of its name', 'M1'],
];

async function find(name: string, invariant: Invariant): Promise<Story | undefined> {
  const { shape, plant } = PLANTED_FAULTS.find((fault) => fault.name === name)!;
  for (let seed = 1; seed <= SEEDS_AT_MOST; seed++) {
    const scenario = drawScenario(seed);
    if (scenario.server.shape !== shape) continue;
    const story = await happen(scenario, { plant });
    if (story.violations.some((found) => found.invariant === invariant && !isOpen(found, scenario))) return story;
  }
  return undefined;
}

describe('the simulated world notices that', () => {
  it.each(FOUND_BY)('%s (%s)', { timeout: 120_000 }, async (name, invariant) => {
    const story = await find(name, invariant);
    expect(story, `not found in ${SEEDS_AT_MOST} seeds`).toBeDefined();
    expect((await happen(story!.scenario)).violations.filter((found) => found.invariant === invariant)).toEqual([]);
  });
});

describe('shrinking', () => {
  it('leaves a smaller world that breaks the same rule', async () => {
    const { plant } = PLANTED_FAULTS.find(({ name }) => name === 'a dead letter is acknowledged, and not written')!;
    const story = (await find('a dead letter is acknowledged, and not written', 'M1'))!;
    const small = await shrink(story, { plant });
    expect(small.violations[0]!.rule).toBe(story.violations[0]!.rule);
    expect(sizeOf(small.scenario)).toBeLessThan(sizeOf(story.scenario) / 2);
    expect(small.scenario.messages.length).toBeLessThanOrEqual(3);
  });

  it('leaves a world as it is that breaks nothing', async () => {
    const story = await happen({ ...drawScenario(3), faults: [] });
    expect(await shrink({ ...story, violations: [] })).toEqual({ ...story, violations: [] });
  });
});

function sizeOf(scenario: Scenario): number {
  return JSON.stringify(scenario).length;
}
