import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderList, HeaderValue } from '../../src/core/message.ts';
import { headersOf, tableOf, unwritable } from '../../src/drivers/rabbitmq/headers.ts';
import { isSound, readTable } from '../../src/drivers/rabbitmq/wire/table.ts';
import { array, double, field, KINDS, sizedText, table, text } from './rabbitmq/tables.ts';

const read = (...entries: readonly Buffer[]) => headersOf(readTable(Buffer.concat(entries)).fields);

describe('headers of a table', () => {
  it.each(KINDS)('are read from %s', (_, entry, expected) => {
    const [header] = read(entry);
    expect(typeof header![1]).toBe(typeof expected);
    expect(Buffer.from(header![1]).equals(Buffer.from(expected))).toBe(true);
  });

  it('repeat where an array of texts and bytes stands', () => {
    const entry = field('to', 'A', array(['S', text('a')], ['x', sizedText('b')], ['S', text('a')]));
    expect(read(entry)).toEqual([
      ['to', 'a'],
      ['to', Buffer.from('b')],
      ['to', 'a'],
    ]);
  });

  it('go no deeper than somebody meant', () => {
    let nested = table();
    for (let depth = 0; depth < 500; depth++) nested = table(field('d', 'F', nested));
    expect(String(read(field('h', 'F', nested))[0]![1])).toMatch(/^\{("d":\{)+"d":null\}+$/);
  });

  it.each([
    ['a value that is cut short', field('h', 'S', text('abc')).subarray(0, -1)],
    ['a length that is cut short', field('h', 'S', text('abc')).subarray(0, 5)],
    ['a name that is cut short', Buffer.of(9, 0x61)],
    ['a name without a value', Buffer.of(1, 0x61)],
    ['a type that nobody knows', Buffer.of(1, 0x61, 0x5a, 0, 0)],
    ['a name of Object as a type', Buffer.concat([Buffer.of(1, 0x61), Buffer.from('constructor')])],
  ])('stop before %s', (_, broken) => {
    const { fields, intact } = readTable(Buffer.concat([field('good', 'S', text('x')), broken]));
    expect(fields.map(({ name }) => name)).toEqual(['good']);
    expect(intact).toBe(false);
    expect(isSound(broken)).toBe(false);
  });

  it('are sound to the bottom, or a server would end the connection', () => {
    expect(isSound(field('h', 'F', table(field('d', 'd', double(1)))))).toBe(true);
    expect(isSound(field('h', 'd', double(Number.NaN)))).toBe(false);
    expect(isSound(field('h', 'F', table(field('d', 'd', double(Number.NaN)))))).toBe(false);
    expect(isSound(field('h', 'A', array(['S', Buffer.of(0, 0, 0, 9, 1)])))).toBe(false);
  });
});

describe('headers written as a table', () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 9 }));

  it('are read again as they were, name by name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 9 }), value), { maxLength: 9 }),
        (headers) => {
          const again = read(...tableOf(headers));
          expect(byName(again)).toEqual(byName(headers));
        },
      ),
    );
  });

  it('have each name once, since a server keeps one of two', () => {
    const entries = tableOf([
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ]);
    expect(readTable(Buffer.concat(entries)).fields.map(({ name, tag }) => [name, tag])).toEqual([
      ['a', 'A'],
      ['b', 'S'],
    ]);
  });

  it.each<[what: string, headers: HeaderList, problem: string | undefined]>([
    ['whole pairs', [['a', '😀']], undefined],
    ['bytes of any kind', [['a', Buffer.of(0xff)]], undefined],
    ['half a pair in a value', [['a', 'x\ud800']], "the header 'a' is no text that UTF-8 can say"],
    ['half a pair in a name', [['\udc00', 'x']], 'the name of a header is no text that UTF-8 can say'],
    ['a name of 255 bytes', [['n'.repeat(255), 'x']], undefined],
    ['a name of 256 bytes', [['é'.repeat(128), 'x']], 'the name of a header is longer than 255 bytes'],
  ])('are refused or not: %s', (_, headers, problem) => {
    expect(unwritable(headers)).toBe(problem);
  });
});

function byName(headers: HeaderList): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  const said = (value: HeaderValue) => `${typeof value} ${Buffer.from(value).toString('hex')}`;
  for (const [name, value] of headers) all.set(name, [...(all.get(name) ?? []), said(value)]);
  return all;
}
