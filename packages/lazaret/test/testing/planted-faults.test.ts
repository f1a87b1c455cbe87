import { beforeAll, describe, expect, it } from 'vitest';
import type { MemoryOptions } from '../../src/drivers/memory/index.ts';
import { notApplicable } from '../../src/testing/conformance/case.ts';
import { examine, THEMES, tryCase } from '../../src/testing/conformance/index.ts';
import type { Examinee } from '../../src/testing/conformance/needs.ts';
import { PLANTED_FAULTS, type PlantedFault } from '../../src/testing/planted-faults.ts';
import { memoryHarness } from '../drivers/memory-harness.ts';

type ShapeName = PlantedFault['shape'];

const SHAPES: Readonly<Record<ShapeName, MemoryOptions>> = {
  table: { shape: 'table' },
  channel: { shape: 'channel' },
  log: { shape: 'log', sessionMs: 1_000 },
};

const CASES = Object.values(THEMES).flat();
const examinees = new Map<ShapeName, Examinee>();
const everCaught = new Set<string>();

function applicable(shape: ShapeName) {
  return CASES.filter((candidate) => notApplicable(candidate, examinees.get(shape)!) === undefined);
}

/** Names of the cases that fail for the driver that `plant` makes of a good one. */
async function failures(shape: ShapeName, plant?: PlantedFault['plant']): Promise<string[]> {
  const open = () => memoryHarness(SHAPES[shape], plant);
  const failed: string[] = [];
  for (const candidate of applicable(shape)) {
    await tryCase(candidate, examinees.get(shape)!, open).catch(() => failed.push(candidate.name));
  }
  return failed;
}

beforeAll(async () => {
  for (const shape of ['table', 'channel', 'log'] as const) {
    examinees.set(shape, await examine(() => memoryHarness(SHAPES[shape])));
  }
});

describe('the conformance suite', () => {
  it.each(['table', 'channel', 'log'] as const)('finds nothing wrong with a good driver of shape %s', async (shape) => {
    expect(await failures(shape)).toEqual([]);
  });

  it.each(PLANTED_FAULTS.map((fault) => [fault.name, fault] as const))(
    'notices that %s',
    async (_, { shape, caughtBy, plant }) => {
      const failed = await failures(shape, plant);
      for (const name of failed) everCaught.add(name);
      expect(failed).toEqual(expect.arrayContaining([...caughtBy]));
    },
  );

  it('has no case that nothing can fail', () => {
    const asked = new Set((['table', 'channel', 'log'] as const).flatMap(applicable).map(({ name }) => name));
    expect([...asked].filter((name) => !everCaught.has(name))).toEqual([]);
  });

  it('asks everything of one of the shapes', () => {
    const asked = new Set((['table', 'channel', 'log'] as const).flatMap(applicable));
    expect(CASES.filter((candidate) => !asked.has(candidate)).map(({ name }) => name)).toEqual([]);
  });

  it('has no two cases of one name', () => {
    const names = CASES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
