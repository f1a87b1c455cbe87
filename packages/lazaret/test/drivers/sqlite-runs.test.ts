import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eachRun } from '../../src/drivers/sqlite/runs.ts';

type Item = readonly [seq: number, token: number];

function runsOf(items: readonly Item[]): (readonly [first: number, last: number, token: number])[] {
  const runs: (readonly [number, number, number])[] = [];
  eachRun(
    items,
    ([seq]) => seq,
    ([, token]) => token,
    (...run) => runs.push(run),
  );
  return runs;
}

it.each<[string, readonly Item[], readonly (readonly number[])[]]>([
  ['nothing', [], []],
  ['one alone', [[7, 1]], [[7, 7, 1]]],
  [
    'neighbours',
    [
      [1, 1],
      [2, 1],
      [3, 1],
    ],
    [[1, 3, 1]],
  ],
  [
    'a gap',
    [
      [1, 1],
      [2, 1],
      [4, 1],
    ],
    [
      [1, 2, 1],
      [4, 4, 1],
    ],
  ],
  [
    'neighbours that need statements of their own',
    [
      [1, 1],
      [2, 2],
      [3, 2],
    ],
    [
      [1, 1, 1],
      [2, 3, 2],
    ],
  ],
  [
    'the same twice',
    [
      [1, 1],
      [1, 1],
    ],
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
  ],
  [
    'backwards',
    [
      [2, 1],
      [1, 1],
    ],
    [
      [2, 2, 1],
      [1, 1, 1],
    ],
  ],
])('makes runs of %s', (_, items, runs) => {
  expect(runsOf(items)).toEqual(runs);
});

it('covers every item once, and no row that is none', () => {
  const item = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 2 }));
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const covered = runsOf(items).flatMap(([first, last, token]) =>
        Array.from({ length: last - first + 1 }, (_, i): Item => [first + i, token]),
      );
      expect(covered).toEqual(items);
    }),
  );
});
