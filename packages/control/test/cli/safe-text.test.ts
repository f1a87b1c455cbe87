import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { block, cell, field, isShowable, readField, safeJson, toAscii } from '../../src/cli/safe-text.ts';
import { HOSTILE, OBEYED } from './corpus.ts';

const anyText = fc.string({ unit: 'binary' });

describe('cell', () => {
  it.each(HOSTILE)('leaves nothing to obey of %s', (_, text) => {
    expect(cell(text)).not.toMatch(OBEYED);
  });

  it.each([
    ['what is plain', "nobody sells 'bread' \\ 100 %", "nobody sells 'bread' \\ 100 %"],
    ['letters of the world, accents and pictures', 'Zürich 東京 שלום é 🍞', 'Zürich 東京 שלום é 🍞'],
    ['an escape sequence', '\u001b[31m', '\\x1b[31m'],
    ['line ends and tabs', 'a\r\n\tb', 'a\\r\\n\\tb'],
    ['a mark of direction', 'a\u202eb', 'a\\u{202e}b'],
  ])('shows %s', (_, text, shown) => {
    expect(cell(text)).toBe(shown);
  });

  it('leaves nothing to obey of any text', () => {
    fc.assert(fc.property(anyText, (text) => !OBEYED.test(cell(text))));
  });
});

describe('block', () => {
  it.each(HOSTILE)('leaves nothing but line breaks to obey of %s', (_, text) => {
    expect(block(text).replaceAll('\n', '')).not.toMatch(OBEYED);
  });

  it('keeps lines, and makes spaces of tabs', () => {
    expect(block('a\r\n\tb\rc')).toBe('a\n    b\\rc');
  });
});

describe('field', () => {
  it.each(HOSTILE)('is one field of one row, whatever it holds: %s', (_, text) => {
    expect(field(text)).not.toMatch(OBEYED);
  });

  it('can be read back', () => {
    const wellFormed = anyText.filter((text) => !/\p{Surrogate}/u.test(text));
    fc.assert(fc.property(wellFormed, (text) => readField(field(text)) === text));
  });
});

describe('safeJson', () => {
  it.each(HOSTILE)('leaves nothing to obey of %s, and says the same', (_, text) => {
    const json = safeJson(JSON.stringify({ text }), false);
    expect(json).not.toMatch(OBEYED);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it('leaves nothing beyond ASCII where that is asked for', () => {
    const json = safeJson(JSON.stringify(['Zürich 🍞']), true);
    expect(json).toBe('["Z\\u00fcrich \\ud83c\\udf5e"]');
    expect(JSON.parse(json)).toEqual(['Zürich 🍞']);
  });
});

describe('toAscii', () => {
  it('names our symbols, spells out all else, and keeps our colours', () => {
    expect(toAscii('\u001b[31m✓ wait 2 s (1.6–2.4) ─ é\u001b[0m\n')).toBe(
      '\u001b[31mok wait 2 s (1.6-2.4) - \\xe9\u001b[0m\n',
    );
  });
});

describe('isShowable', () => {
  it.each([
    ['text', Buffer.from('{"a":"é"}\n'), true],
    ['an escape sequence', Buffer.from('\u001b[31m'), false],
    ['bytes that are no text', Buffer.from([0x7b, 0xff]), false],
  ])('judges %s', (_, bytes, showable) => {
    expect(isShowable(bytes)).toBe(showable);
  });
});
