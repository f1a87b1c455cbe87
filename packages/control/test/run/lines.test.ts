import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/run/lines.ts';

async function* chunks(...texts: readonly (string | Uint8Array)[]) {
  for (const text of texts) yield typeof text === 'string' ? Buffer.from(text) : text;
}

async function read(input: AsyncIterable<Uint8Array>, longest?: number) {
  const found: [number, string][] = [];
  let empty = 0;
  let bytesRead = 0;
  for await (const piece of linesOf(input, longest)) {
    found.push(
      ...piece.lines.map(({ number, bytes }) => [number, Buffer.from(bytes).toString('latin1')] as [number, string]),
    );
    empty += piece.empty;
    bytesRead = piece.bytesRead;
  }
  return { found, empty, bytesRead };
}

describe('linesOf', () => {
  it.each([
    [
      'lines',
      ['a\nb\n'],
      [
        [1, 'a'],
        [2, 'b'],
      ],
      0,
    ],
    [
      'a last line without a newline',
      ['a\nb'],
      [
        [1, 'a'],
        [2, 'b'],
      ],
      0,
    ],
    ['no empty line after a last newline', ['a\n'], [[1, 'a']], 0],
    ['nothing', [], [], 0],
    [
      'empty lines, which are counted and keep their numbers',
      ['\na\n \t\r\n\nb'],
      [
        [2, 'a'],
        [5, 'b'],
      ],
      3,
    ],
    [
      'carriage returns as part of their lines',
      ['a\r\nb\r\n'],
      [
        [1, 'a\r'],
        [2, 'b\r'],
      ],
      0,
    ],
    [
      'a byte-order mark as part of its line',
      ['\ufeffa\nb'],
      [
        [1, '\u00ef\u00bb\u00bfa'],
        [2, 'b'],
      ],
      0,
    ],
    ['a byte-order mark alone as an empty line', ['\ufeff\r\nb'], [[2, 'b']], 1],
    [
      'lines over many chunks',
      ['a', 'b', 'c\nd', '', '\ne'],
      [
        [1, 'abc'],
        [2, 'd'],
        [3, 'e'],
      ],
      0,
    ],
    [
      'bytes that are no text',
      [Buffer.from([0xff, 0x0a, 0x00, 0xfe])],
      [
        [1, '\u00ff'],
        [2, '\u0000\u00fe'],
      ],
      0,
    ],
  ] as const)('reads %s', async (_, texts, lines, empty) => {
    expect(await read(chunks(...(texts as readonly (string | Uint8Array)[])))).toMatchObject({ found: lines, empty });
  });

  it('loses and changes no byte, however the input is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ max: 13, maxLength: 20 })), async (pieces) => {
        const whole = Buffer.concat(pieces);
        const expected = whole
          .toString('latin1')
          .split('\n')
          .map((line, at) => [at + 1, line]);
        const { found, bytesRead } = await read(chunks(...pieces));
        expect(found).toEqual(expected.filter(([, line]) => !/^[ \t\r]*$/.test(line as string)));
        expect(bytesRead).toBe(whole.length);
      }),
    );
  });

  it('refuses a line that does not end', async () => {
    await expect(read(chunks('ab\n', 'cdef', 'gh'), 5)).rejects.toMatchObject({
      code: 'LZ1301',
      message: expect.stringMatching(/^line 2 is longer than 5 bytes/),
    });
  });
});
