import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MarkAt, MOST_DEAD_KEYS, readMetadata, UNMARKED, writeMetadata } from '../../src/drivers/kafka/marks.ts';

const at = (offset: number, change: Partial<MarkAt> = {}): MarkAt => ({ ...UNMARKED, ...change, offset });

const mark: fc.Arbitrary<Omit<MarkAt, 'offset'>> = fc.oneof(
  fc.constant({ ...UNMARKED, isDone: true }),
  fc.constant(UNMARKED),
  fc.record({
    isDone: fc.constant(false),
    isOpen: fc.boolean(),
    crashes: fc.nat(9),
    charged: fc.nat(9),
    dueAt: fc.option(fc.integer({ min: 1, max: 4e12 }), { nil: undefined }),
    notBefore: fc.option(fc.integer({ min: 1, max: 4e12 }), { nil: undefined }),
  }),
);

const rising = fc.array(fc.tuple(fc.nat(3), mark), { maxLength: 60 }).map((steps) => {
  let offset = 1_000;
  return steps.map(([gap, each]) => {
    offset += gap;
    return { ...each, offset: offset++ };
  });
});

describe('marks in the metadata of a commit', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(rising, (list) => {
        const { marks } = readMetadata('me', 1_000, writeMetadata('me', 1_000, list));
        for (const { offset, isOpen: _, ...wanted } of list) {
          const found = marks.get(offset) ?? UNMARKED;
          expect({ ...found, isOpen: undefined }).toEqual({ ...wanted, isOpen: undefined });
        }
      }),
    );
  });

  it('never grow beyond what a broker takes, and then forget the last ones only', () => {
    const list = Array.from({ length: 3_000 }, (_, i) =>
      at(2 * i, { dueAt: 1_700_000_000_000 + i, crashes: 1 + (i % 3), notBefore: 1_800_000_000_000 + i }),
    );
    const text = writeMetadata('me', 0, list);
    expect(text.length).toBeLessThanOrEqual(4_000);
    const { marks } = readMetadata('me', 0, text);
    expect(marks.get(0)).toMatchObject({ crashes: 1, dueAt: 1_700_000_000_000 });
    expect(marks.size).toBeGreaterThan(200);
  });

  it.each([
    ['what somebody else left open is a crash', 'other', 1],
    ['what oneself left open was released', 'me', undefined],
  ])('say that %s', (_, owner, crashes) => {
    const { marks } = readMetadata('me', 5, writeMetadata(owner, 5, [at(5, { isOpen: true })]));
    expect(marks.get(5)?.crashes).toBe(crashes);
  });

  it('take a hole for done, and end with the last record that was touched', () => {
    const text = writeMetadata('me', 10, [at(10, { crashes: 1 }), at(15, { isDone: true }), at(16), at(17)]);
    const { marks } = readMetadata('me', 10, text);
    expect([...marks.keys()]).toEqual([10, 11, 12, 13, 14, 15]);
    expect(marks.get(12)?.isDone).toBe(true);
  });

  it('fit a long handler at full speed into a few characters', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => at(i, { isDone: i > 0, isOpen: i === 0 }));
    expect(writeMetadata('a', 0, list).length).toBeLessThan(20);
  });

  it('carry dead keys beside them', () => {
    const keys = Array.from({ length: MOST_DEAD_KEYS }, (_, i) => i.toString(16).padStart(16, '0'));
    const text = writeMetadata('me', 0, [at(0, { isOpen: true })], keys);
    expect(readMetadata('other', 0, text)).toMatchObject({ deadKeys: keys });
    expect(text.length).toBeLessThan(400);
  });

  it.each([
    undefined,
    '',
    'somebody else was here',
    'lz1',
    'lz1.me',
    'lz1.me.!!!!',
    'lz2.me.Bg==',
    `lz1.me.${Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]).toString('base64')}`,
    `lz1.me.${Buffer.from([7]).toString('base64')}`,
  ])('are none where the metadata is %j', (text) => {
    expect(readMetadata('me', 0, text)).toEqual({ marks: new Map(), deadKeys: [] });
  });

  it('are read past the NUL that a client appends', () => {
    const { marks } = readMetadata('me', 0, `${writeMetadata('me', 0, [at(0, { crashes: 2 })])}\0`);
    expect(marks.get(0)?.crashes).toBe(2);
  });
});
