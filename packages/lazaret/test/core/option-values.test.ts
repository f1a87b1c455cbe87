import { describe, expect, it } from 'vitest';
import { durationFrom, givenOptions, oneOf, refuseUnknown, wholeNumber } from '../../src/core/option-values.ts';
import { refusal } from './refusal.ts';

const KNOWN = ['timeout', 'backoff'];

describe('refuseUnknown', () => {
  it('lets known names pass, whatever their value', () => {
    expect(() => refuseUnknown({ timeout: 1, backoff: undefined }, KNOWN, 'consume')).not.toThrow();
  });

  it('names the option that was probably meant', () => {
    expect(refusal(() => refuseUnknown({ timeout: 1, bakoff: 2 }, KNOWN, 'consume'))).toEqual({
      code: 'LZ1001',
      message: "consume: unknown option 'bakoff'. Did you mean 'backoff'?",
    });
  });

  it('lists what it knows where nothing is near', () => {
    expect(refusal(() => refuseUnknown({ x: 1 }, KNOWN, 'consume'))).toEqual({
      code: 'LZ1001',
      message: "consume: unknown option 'x'. Known: timeout, backoff.",
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('knows no option %s', (name) => {
    const given = JSON.parse(`{ "${name}": 1 }`) as object;
    expect(refusal(() => refuseUnknown(given, KNOWN, 'consume')).code).toBe('LZ1001');
  });
});

describe('givenOptions', () => {
  it('takes what is undefined for not given', () => {
    expect([...givenOptions({ timeout: undefined, backoff: 1 }, KNOWN, 'consume')]).toEqual([['backoff', 1]]);
  });

  it('inherits nothing', () => {
    expect(givenOptions(Object.create({ timeout: '1s' }), KNOWN, 'consume').size).toBe(0);
  });

  it.each([[null], [undefined], ['timeout'], [[]], [5]])('refuses %j, which are no options', (options) => {
    expect(refusal(() => givenOptions(options, KNOWN, 'consume')).code).toBe('LZ1002');
  });
});

describe('wholeNumber', () => {
  it('answers with the number', () => expect(wholeNumber(3, 'concurrency', 3)).toBe(3));

  it.each([
    ['3', 'LZ1002'],
    [3n, 'LZ1002'],
    [null, 'LZ1002'],
    [2, 'LZ1003'],
    [3.5, 'LZ1003'],
    [Number.NaN, 'LZ1003'],
    [Number.POSITIVE_INFINITY, 'LZ1003'],
    [2 ** 53, 'LZ1003'],
  ])('refuses %s', (value, code) => {
    expect(refusal(() => wholeNumber(value, 'concurrency', 3)).code).toBe(code);
  });
});

describe('durationFrom', () => {
  it('answers with the milliseconds', () => expect(durationFrom(1000, '1s', 'timeout')).toBe(1000));

  it('refuses what is shorter', () => {
    expect(refusal(() => durationFrom(1000, '999ms', 'timeout'))).toEqual({
      code: 'LZ1003',
      message: "timeout: '999ms' is too short. The least is 1s.",
    });
  });
});

describe('oneOf', () => {
  it('answers with the choice', () => expect(oneOf(['none', 'key'], 'key', 'ordering')).toBe('key'));

  it.each([
    ['kye', "ordering: 'kye' is not one of its values. Did you mean 'key'?"],
    [true, "ordering: true is not one of its values. Write one of 'none', 'key'."],
    ['__proto__', "ordering: '__proto__' is not one of its values. Write one of 'none', 'key'."],
  ])('refuses %j', (value, message) => {
    expect(refusal(() => oneOf(['none', 'key'], value, 'ordering'))).toEqual({ code: 'LZ1002', message });
  });
});
