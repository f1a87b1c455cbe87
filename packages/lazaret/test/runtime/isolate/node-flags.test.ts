import { describe, expect, it } from 'vitest';
import { childFlags, refuseTooLittleMemory } from '../../../src/runtime/isolate/node-flags.ts';
import { refusal } from '../../core/refusal.ts';

const MB = 1024 ** 2;

describe('the flags of a child', () => {
  it.each<[what: string, own: string[], childs: string[]]>([
    [
      'loaders and conditions',
      ['--import', 'tsx', '-C', 'dev', '--enable-source-maps'],
      ['--import', 'tsx', '-C', 'dev', '--enable-source-maps'],
    ],
    [
      'no debugger port',
      ['--inspect', '--inspect-brk=9230', '--inspect-port=0', '-r', './setup.cjs'],
      ['-r', './setup.cjs'],
    ],
    ['no code', ['-e', 'run()', '--no-warnings'], ['--no-warnings']],
    ['no printed code', ['--input-type=module', '-p', 'run()'], []],
    ['no code after an equals sign', ['--eval=run()', '--print=run()'], []],
  ])('carry over %s', (_, own, childs) => {
    expect(childFlags(own, undefined)).toEqual(childs);
  });

  it.each([
    [48, 3, 23],
    [64, 4, 36],
    [256, 16, 192],
    [1024, 16, 960],
  ])('leave room beside the heap: %i mb', (mb, semiSpace, oldSpace) => {
    const flags = [`--max-semi-space-size=${semiSpace}`, `--max-old-space-size=${oldSpace}`];
    expect(childFlags(['--max-old-space-size=4096'], mb * MB)).toEqual(['--max-old-space-size=4096', ...flags]);
  });

  it('refuse less memory than a process needs', () => {
    expect(() => refuseTooLittleMemory(48 * MB)).not.toThrow();
    expect(refusal(() => refuseTooLittleMemory(47 * MB))).toEqual({
      code: 'LZ1003',
      message: expect.stringMatching(/isolate\.memory.*47mb is too little.*'48mb'/),
    });
  });
});
