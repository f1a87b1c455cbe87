import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draw } from '../../src/core/draw.ts';

const DRAWS = 100_000;
/** 99 degrees of freedom: mean 99, deviation 14; five deviations above it. */
const CHI_SQUARE_LIMIT = 170;

function chiSquare(values: (at: number) => number): number {
  const buckets = new Array<number>(100).fill(0);
  for (let at = 0; at < DRAWS; at++) {
    const bucket = Math.floor(values(at) * 100);
    buckets[bucket] = buckets[bucket]! + 1;
  }
  const expected = DRAWS / 100;
  return buckets.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('draw', () => {
  it.each<[what: string, values: (at: number) => number]>([
    ['many messages at their first attempt', (at) => draw(`evt-${at}`, 1)],
    ['ids that differ at the front', (at) => draw(`${at}-orders-eu-west-1-2024`, 1)],
    ['one message over all its attempts', (at) => draw('evt-81f2', at)],
    ['a message without text in its id', (at) => draw('', at)],
    ['attempts that differ beyond 32 bits', (at) => draw('evt-81f2', at * 0x100000000)],
    ['the digits below the first 32 bits', (at) => (draw(`evt-${at}`, 1) * 0x100000000) % 1],
    ['pairs of neighbouring attempts', (at) => (Math.floor(draw(`evt-${at}`, 1) * 10) + draw(`evt-${at}`, 2)) / 10],
    ['pairs of neighbouring ids', (at) => (Math.floor(draw(`evt-${at}`, 1) * 10) + draw(`evt-${at + 1}`, 1)) / 10],
  ])('is uniform over %s', (_, values) => {
    expect(chiSquare(values)).toBeLessThan(CHI_SQUARE_LIMIT);
  });

  it('is the same in every process and for ever', () => {
    expect([draw('evt-81f2', 1), draw('evt-81f2', 2), draw('', 0), draw('schlüssel-✓', 1e9)]).toEqual([
      0.01898220700419051, 0.5364511535055045, 0.4067471134586581, 0.18850780893178742,
    ]);
  });

  it('lies in [0, 1)', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat({ max: Number.MAX_SAFE_INTEGER }), (id, n) => {
        const value = draw(id, n);
        expect(value >= 0 && value < 1).toBe(true);
        expect(draw(id, n)).toBe(value);
      }),
    );
  });

  it('tells ids apart that differ in one letter, in order or in length', () => {
    const ids = ['ab', 'ba', 'a', 'aa', 'a\0', '\0a', '\0', '\0\0', ''];
    expect(new Set(ids.map((id) => draw(id, 1))).size).toBe(ids.length);
  });
});
