import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairLevel, fairPieces } from '../../../src/core/storm/fair-share.ts';

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

describe('a fair share', () => {
  it.each([
    ['all where all is met', 10, [3, 4], Number.POSITIVE_INFINITY],
    ['the same where all want more', 10, [20, 30], 5],
    ['what is left by those that want less', 10, [1, 20, 30], 4.5],
    ['nothing of nothing', 0, [1, 1], 0],
    ['everything where nobody wants', 10, [], Number.POSITIVE_INFINITY],
  ])('is %s', (_, capacity, wants, level) => {
    expect(fairLevel(capacity, wants)).toBe(level);
  });

  it.each([
    ['divides', 10, [20, 20], 0, [5, 5]],
    ['gives the rest to one', 10, [9, 9, 9], 0, [4, 3, 3]],
    ['and to the next one at the next turn', 10, [9, 9, 9], 1, [3, 4, 3]],
    ['goes round where there are fewer than parties', 1, [1, 1, 1], 2, [0, 0, 1]],
    ['asks nobody to take more than it wants', 7, [1, 9, 9], 5, [1, 3, 3]],
    ['gives the rest only to those that want more', 8, [1, 9, 9], 0, [1, 4, 3]],
  ])('in whole pieces %s', (_, capacity, wants, turn, pieces) => {
    expect(fairPieces(capacity, wants, turn)).toEqual(pieces);
  });

  it('never gives more than there is or is wanted, and leaves nothing while somebody wants', () => {
    const wants = fc.array(fc.nat(50), { maxLength: 12 });
    fc.assert(
      fc.property(fc.nat(60), wants, fc.nat(1000), (capacity, wanted, turn) => {
        const pieces = fairPieces(capacity, wanted, turn);
        expect(sum(pieces)).toBe(Math.min(capacity, sum(wanted)));
        expect(pieces.every((piece, at) => piece <= wanted[at]!)).toBe(true);
        const level = fairLevel(capacity, wanted);
        expect(sum(wanted.map((want) => Math.min(want, level)))).toBeCloseTo(Math.min(capacity, sum(wanted)));
      }),
    );
  });
});
