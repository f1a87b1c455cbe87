import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from '../../src/run/json-fault.ts';
import { checkLine, type Readable } from '../../src/run/line-check.ts';
import { utf8Fault } from '../../src/run/utf8-fault.ts';

describe('jsonFault', () => {
  it.each([
    ['', 0, 'ends where a value is expected'],
    ['nul', 0, "expected a value, found 'n'"],
    ['{', 1, "ends where a name in double quotes or '}' is expected"],
    ['{"a"', 4, "ends where ':' is expected"],
    ['{"a" 1}', 5, "expected ':', found '1'"],
    ['{"a":}', 5, "expected a value, found '}'"],
    ['{"a":1 "b":2}', 7, "expected ',' or '}', found '\"'"],
    ['{"a":1,}', 7, "expected a name in double quotes, found '}'"],
    ["{'a':1}", 1, "expected a name in double quotes or '}', found '''"],
    ['[1,]', 3, "expected a value, found ']'"],
    ['[1', 2, "ends where ',' or ']' is expected"],
    ['[', 1, "ends where a value or ']' is expected"],
    ['[1}', 2, "expected ',' or ']', found '}'"],
    ['{"a":1}x', 7, "expected the end, found 'x'"],
    ['{} {}', 3, "expected the end, found '{'"],
    ['"abc', 4, 'ends inside a string'],
    ['"a\\x"', 2, 'a string holds the unknown escape "\\\\x"'],
    ['"a\\u12G4"', 2, 'a string holds the unknown escape "\\\\u"'],
    ['"a\tb"', 2, 'a string holds the control character "\\t"'],
    ['01', 1, "expected the end, found '1'"],
    ['-', 0, "expected a value, found '-'"],
    ['1.', 1, "expected the end, found '.'"],
    ['NaN', 0, "expected a value, found 'N'"],
    ['🍞', 0, "expected a value, found '🍞'"],
  ])('finds in %s, at %d: %s', (text, at, what) => {
    expect(jsonFault(text)).toEqual({ at, what });
  });

  it('finds nothing in what JSON.parse reads, and something in all else', () => {
    const parses = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const broken = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([json, at, put]) => {
      const start = at % (json.length + 1);
      return json.slice(0, start) + put + json.slice(start + 1);
    });
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken, fc.string()), (text) => (jsonFault(text) === undefined) === parses(text)),
    );
  });

  it('walks what is nested deeply', () => {
    expect(jsonFault(`${'['.repeat(200_000)}`)).toMatchObject({ at: 200_000 });
  });
});

describe('utf8Fault', () => {
  it.each([
    ['plain text', Buffer.from('abc'), undefined],
    ['letters of several bytes', Buffer.from('é東🍞\ufeff'), undefined],
    ['the replacement character itself', Buffer.from('a\ufffdb\ufffd'), undefined],
    ['a byte that is none', Buffer.from([0x61, 0xff]), { byte: 1, at: 1 }],
    ['a letter cut in half', Buffer.from([0xc3, 0xa9, 0xe6, 0x9d]), { byte: 2, at: 1 }],
    ['one after the replacement character itself', Buffer.from([0xef, 0xbf, 0xbd, 0x80]), { byte: 3, at: 1 }],
    ['one after a pair', Buffer.concat([Buffer.from('🍞'), Buffer.from([0xfe])]), { byte: 4, at: 2 }],
  ])('looks at %s', (_, bytes, fault) => {
    expect(utf8Fault(bytes)).toEqual(fault);
  });
});

describe('checkLine', () => {
  const message = (bytes: Uint8Array): Readable => {
    const text = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { body: bytes, text, json: () => JSON.parse(text().replace(/^\ufeff/, '')) };
  };

  it.each([
    ['a missing comma', Buffer.from('{"a":1 "b":2}'), "line 17, column 8: expected ',' or '}', found '\"'"],
    [
      'behind a byte-order mark',
      Buffer.from('\ufeff{,}'),
      "line 17, column 2: expected a name in double quotes or '}', found ','",
    ],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22]), 'line 17, column 2: byte 2 is not UTF-8'],
  ])('says line and column of %s', (_, bytes, said) => {
    expect(() => checkLine(message(bytes), 17)).toThrow(
      expect.objectContaining({ name: 'DecodeError', message: said }),
    );
  });

  it('lets JSON pass', () => {
    expect(() => checkLine(message(Buffer.from('{"a":1}\r')), 17)).not.toThrow();
  });
});
