import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, largestUnit, parseDuration, parsePercent, parseRate } from '../../src/core/duration.ts';
import { refusal } from './refusal.ts';

const DAY_MS = 86_400_000;

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['30d', 30 * DAY_MS],
    ['3650d', 3650 * DAY_MS],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1d2h3m4s5ms', DAY_MS + 7_384_005],
    ['3m32.5s', 212_500],
    [' 2s ', 2000],
    ['1.1s', 1100],
    ['1.05s', 1050],
    ['0.0004s', 1],
    ['0s', 0],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text, 'timeout')).toBe(ms);
  });

  it.each([
    [90, "timeout: bare number for a duration: 90 → did you mean '90s'?"],
    ['90', "timeout: bare number for a duration: 90 → did you mean '90s'?"],
    [0, "timeout: bare number for a duration: 0 → did you mean '0s'?"],
    ['1.50', "timeout: bare number for a duration: 1.5 → did you mean '1.5s'?"],
    [1.05, "timeout: bare number for a duration: 1.05 → did you mean '1.05s'?"],
    ['1.05', "timeout: bare number for a duration: 1.05 → did you mean '1.05s'?"],
    [1000, "timeout: bare number for a duration: 1000 → did you mean '1s' or '1000s'?"],
    [90n, "timeout: bare number for a duration: 90 → did you mean '90s'?"],
    [30_000, "timeout: bare number for a duration: 30000 → did you mean '30s' or '30000s'?"],
  ])('answers the bare number %s with the fix', (value, message) => {
    expect(refusal(() => parseDuration(value, 'timeout'))).toEqual({ code: 'LZ1042', message });
  });

  it.each([
    '',
    's',
    '90 seconds',
    '90S',
    '1m1h',
    '1m1m',
    '1,5s',
    '1e3s',
    '+5s',
    '.5s',
    '5s!',
    '1..5s',
    '１s',
    `${'1'.repeat(200)}s`,
    '1s '.repeat(40),
    'Infinitys',
  ])('cannot read %j', (text) => {
    expect(refusal(() => parseDuration(text, 'timeout')).code).toBe('LZ1043');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, -5n, '-5s', '-1', '3651d', '3650d1ms', '999999999999999d'])(
    'refuses %s as out of range',
    (value) => {
      expect(refusal(() => parseDuration(value, 'timeout')).code).toBe('LZ1003');
    },
  );

  it.each([[undefined], [null], [true], [{}], [['1s']], [() => '1s'], [Symbol('1s')]])(
    'refuses %s as no duration at all',
    (value) => {
      expect(refusal(() => parseDuration(value, 'timeout')).code).toBe('LZ1002');
    },
  );

  it('names its option and shows a hostile value short, on one line', () => {
    const { message } = refusal(() => parseDuration(`x\n\u001b[31m\u202e${'y'.repeat(5000)}`, 'backoff[1]'));
    expect(message).toMatch(/^backoff\[1\]: unreadable duration 'x\?\?/);
    expect(message.length).toBeLessThan(250);
    expect(message).not.toMatch(/\p{Cc}|\p{Cf}/u);
  });

  it('never answers with a fraction, a negative or a not finite number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^-?[0-9]{1,6}(\.[0-9]{1,4})?(ms|s|m|h|d)$/)), (text) => {
        let ms = 0;
        try {
          ms = parseDuration(text, 'timeout');
        } catch {
          return;
        }
        expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= 3650 * DAY_MS).toBe(true);
      }),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [1000, '1s'],
    [1600, '1.6s'],
    [59_999, '59.999s'],
    [60_000, '1m'],
    [90_000, '1m30s'],
    [212_500, '3m32.5s'],
    [7_200_000, '2h'],
    [3_600_001, '1h0.001s'],
    [2 * DAY_MS + 10_800_000, '2d3h'],
    [1500.4, '1.5s'],
    [1499.6, '1.5s'],
    [-5, '-5ms'],
    [Number.POSITIVE_INFINITY, 'Infinityms'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('is read back exactly', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(100_000), fc.integer({ min: 0, max: 3650 * DAY_MS })), (ms) => {
        expect(parseDuration(formatDuration(ms), 'x')).toBe(ms);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('largestUnit', () => {
  it.each([
    [0, 'ms', 1],
    [999, 'ms', 1],
    [1000, 's', 1000],
    [120_000, 'm', 60_000],
    [3_600_000, 'h', 3_600_000],
    [40 * DAY_MS, 'd', DAY_MS],
  ])('of %d ms is %s', (ms, unit, unitMs) => {
    expect(largestUnit(ms)).toEqual([unit, unitMs]);
  });
});

describe('parseRate', () => {
  it.each([
    ['100/s', 100, 1000],
    ['5/m', 5, 60_000],
    ['2/h', 2, 3_600_000],
    ['1/d', 1, DAY_MS],
    ['100 / s', 100, 1000],
  ])('reads %j', (text, count, perMs) => {
    expect(parseRate(text, 'rateLimit')).toEqual({ count, perMs });
  });

  it.each([
    [''],
    ['100'],
    ['/s'],
    ['0.5/s'],
    ['-1/s'],
    ['1/ms'],
    ['1/w'],
    ['1/s/s'],
    [null],
    [{}],
    [`${'9'.repeat(100)}/s`],
  ])('cannot read %j', (value) => {
    expect(refusal(() => parseRate(value, 'rateLimit')).code).toBe('LZ1044');
  });

  it('answers a bare number with the fix', () => {
    expect(refusal(() => parseRate(100, 'rateLimit'))).toEqual({
      code: 'LZ1044',
      message:
        "rateLimit: unreadable rate 100. Did you mean '100/s'? The count is a whole number, the unit one of s, m, h, d.",
    });
  });

  it.each([
    [1, "Did you mean '1/s'?"],
    [1.5, "Did you mean '1/s'?"],
    [0.5, "Write '100/s'."],
    ['fast', "Write '100/s'."],
  ])('proposes for %j: %s', (value, todo) => {
    expect(refusal(() => parseRate(value, 'rateLimit')).message).toContain(todo);
  });

  it('refuses a rate that lets nothing through', () => {
    expect(refusal(() => parseRate('0/s', 'rateLimit')).code).toBe('LZ1003');
  });
});

describe('parsePercent', () => {
  it.each([
    ['20%', 0.2],
    ['±20%', 0.2],
    ['±20 %', 0.2],
    ['0%', 0],
    ['100%', 1],
    ['12.5%', 0.125],
    ['50.05%', 0.5005],
  ])('reads %j', (text, share) => {
    expect(parsePercent(text, 'jitter')).toBe(share);
  });

  it.each([
    ['20', 'LZ1002'],
    ['', 'LZ1002'],
    ['-20%', 'LZ1002'],
    [true, 'LZ1002'],
    ['101%', 'LZ1003'],
    ['999999999%', 'LZ1003'],
  ])('refuses %j', (value, code) => {
    expect(refusal(() => parsePercent(value, 'jitter')).code).toBe(code);
  });

  it.each([
    [20, "'20%'"],
    [0.2, "'20%'"],
    [0, "'0%'"],
    [1, "'1%'"],
    [1.5, "'1.5%'"],
  ])('answers the bare number %d with the fix', (value, meant) => {
    expect(refusal(() => parsePercent(value, 'jitter')).message).toContain(`Did you mean ${meant}?`);
  });
});
