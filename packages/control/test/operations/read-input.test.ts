import { isLazaretError } from 'lazaret/core';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/operations/operation.ts';
import { type Given, readInput } from '../../src/operations/read-input.ts';
import { refusalOf } from '../../src/operations/refusal.ts';
import { timeText } from '../../src/operations/time-text.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    state: { type: 'string', enum: ['open', 'released'] },
    quiet: { type: 'boolean' },
    ids: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'ids'],
};

const read = (given: Readonly<Record<string, Given>>) =>
  readInput(schema, new Map(Object.entries(given)), (property) => `--${property}`);

describe('readInput', () => {
  it.each([
    [{ name: 'a' }, { name: 'a', limit: 50, ids: [] }],
    [
      { name: 'a', limit: '7' },
      { name: 'a', limit: 7, ids: [] },
    ],
    [
      { name: 'a', state: 'open' },
      { name: 'a', limit: 50, state: 'open', ids: [] },
    ],
    [
      { name: 'a', quiet: true },
      { name: 'a', limit: 50, quiet: true, ids: [] },
    ],
    [
      { name: 'a', ids: ['x', 'y'] },
      { name: 'a', limit: 50, ids: ['x', 'y'] },
    ],
    [
      { name: 'a', ids: 'x' },
      { name: 'a', limit: 50, ids: ['x'] },
    ],
    [
      { name: 'a', stranger: 'x' },
      { name: 'a', limit: 50, ids: [] },
    ],
  ])('reads %o', (given, input) => {
    expect(read(given)).toEqual(input);
  });

  it.each([
    [{}, 'LZ1305', '--name is missing. Add it.'],
    [{ name: '' }, 'LZ1002', '--name is empty. Write a name.'],
    [{ name: 'a', limit: '1e3' }, 'LZ1002', "--limit: '1e3' is not a whole number. Write one from 1 on."],
    [{ name: 'a', limit: '-1' }, 'LZ1002', "--limit: '-1' is not a whole number. Write one from 1 on."],
    [{ name: 'a', limit: '0' }, 'LZ1003', '--limit: 0 is out of range. It lies between 1 and 200.'],
    [{ name: 'a', limit: '201' }, 'LZ1003', '--limit: 201 is out of range. It lies between 1 and 200.'],
    [{ name: 'a', state: 'opn' }, 'LZ1002', "--state: 'opn' is not one of its values. Did you mean 'open'?"],
    [
      { name: 'a', state: 'xxxxxx' },
      'LZ1002',
      "--state: 'xxxxxx' is not one of its values. Write one of open, released.",
    ],
  ])('refuses %o', (given, code, message) => {
    try {
      read(given);
    } catch (thrown) {
      if (!isLazaretError(thrown)) throw thrown;
      expect({ code: thrown.code, message: thrown.message }).toEqual({ code, message });
      return;
    }
    throw new Error('nothing was refused');
  });
});

describe('refusalOf', () => {
  it.each([
    ['an error', new Error('it broke'), { message: 'it broke' }],
    ['an error of a kind', new TypeError('no'), { message: 'TypeError: no' }],
    ['a text', 'just text', { message: 'string: just text' }],
    ['nothing', undefined, { message: 'undefined: undefined was thrown' }],
  ])('says what %s says', (_, thrown, refusal) => {
    expect(refusalOf(thrown)).toEqual(refusal);
  });
});

describe('timeText', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [Number.NaN, '1970-01-01T00:00:00.000Z'],
    [Number.MAX_SAFE_INTEGER, '+275760-09-13T00:00:00.000Z'],
    [-Number.MAX_SAFE_INTEGER, '-271821-04-20T00:00:00.000Z'],
  ])('of %d never throws', (ms, text) => {
    expect(timeText(ms)).toBe(text);
  });
});
