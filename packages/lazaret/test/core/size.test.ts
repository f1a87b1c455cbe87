import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize, parseSize } from '../../src/core/size.ts';
import { refusal } from './refusal.ts';

describe('parseSize', () => {
  it.each([
    ['1b', 1],
    ['256kb', 262_144],
    ['256 KB', 262_144],
    ['1.5mb', 1_572_864],
    ['1.05kb', 1075],
    ['2gb', 2_147_483_648],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseSize(text, 'maxBody')).toBe(bytes);
  });

  it.each([[''], ['10'], ['mb'], ['10tb'], ['-1mb'], ['1e3kb'], [true], [null], ['9'.repeat(50)]])(
    'refuses %j',
    (value) => {
      expect(refusal(() => parseSize(value, 'maxBody')).code).toBe('LZ1002');
    },
  );

  it('answers a bare number with the fix', () => {
    const { message } = refusal(() => parseSize(262_144, 'maxBody'));
    expect(message).toBe("maxBody: 262144 is not a size. Did you mean '256kb'?");
    expect(refusal(() => parseSize(1, 'maxBody')).message).toContain("Did you mean '1b'?");
    expect(refusal(() => parseSize(0.4, 'maxBody')).message).toContain("Write '256kb' or '10mb'.");
    expect(refusal(() => parseSize('10', 'maxBody')).message).toContain("Write '256kb' or '10mb'.");
  });

  it.each(['0mb', '0.5b', '999999999999gb'])('refuses %j as out of range', (text) => {
    expect(refusal(() => parseSize(text, 'maxBody')).code).toBe('LZ1003');
  });
});

describe('formatSize', () => {
  it.each([
    [0, '0b'],
    [999.6, '1000b'],
    [1024, '1kb'],
    [262_144, '256kb'],
    [10_485_760, '10mb'],
    [1_572_864, '1536kb'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it('is read back exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 36 }), (bytes) => {
        expect(parseSize(formatSize(bytes), 'x')).toBe(bytes);
      }),
    );
  });
});
