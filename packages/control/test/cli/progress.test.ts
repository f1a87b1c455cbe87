import { describe, expect, it } from 'vitest';
import { milestones, progressOn } from '../../src/cli/progress.ts';
import { captured } from './captured.ts';

describe('milestones', () => {
  it.each([
    [
      'each tenth',
      [
        [1_000, 5],
        [1_001, 10],
        [1_002, 19],
        [1_003, 20],
        [1_004, 29],
      ],
      [10, 20],
    ],
    [
      'nothing of what is quick',
      [
        [10, 50],
        [200, 100],
      ],
      [],
    ],
    [
      'every ten seconds',
      [
        [9_999, 1],
        [10_000, 2],
        [19_999, 3],
        [20_000, 4],
      ],
      [2, 4],
    ],
  ] as const)('say %s', (_, steps, said) => {
    let now = 0;
    const due = milestones(() => now);
    const heard = steps.filter(([at, done]) => {
      now = at;
      return due(done, 100);
    });
    expect(heard.map(([, done]) => done)).toEqual(said);
  });

  it('say every ten seconds how far it is, where nobody knows the whole', () => {
    let now = 0;
    const due = milestones(() => now);
    expect(
      [5_000, 10_000, 15_000, 20_000].filter((at) => {
        now = at;
        return due(at, undefined);
      }),
    ).toEqual([10_000, 20_000]);
  });
});

describe('progress', () => {
  it('is a line now and then where no terminal is', async () => {
    let now = 0;
    const { sink, text } = captured();
    const progress = await progressOn(sink, 'bytes', () => now);
    now = 1_000;
    progress.at(30, 100, '4 lines under way');
    progress.at(35, 100);
    progress.end();
    expect(text()).toBe('30 %: 30 of 100 bytes, 4 lines under way\n');
  });
});
