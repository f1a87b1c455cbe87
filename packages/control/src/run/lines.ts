import { LazaretError } from 'lazaret/core';

/** What stands between two newlines, byte for byte: a carriage return and a byte-order mark stay part of it. */
export interface Line {
  /** From 1 on, empty lines counted. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The lines that end in one piece of the input, and how much of it has been read. The last line needs no newline. */
export interface Lines {
  readonly lines: readonly Line[];
  readonly empty: number;
  readonly bytesRead: number;
}

/** A line is held in memory whole. The library's own limit of a body is far below; this one only guards against input without newlines. */
const LONGEST_LINE = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** Never holds more than one chunk and one unfinished line. LZ1301 for a line longer than `longest` bytes. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  longest: number = LONGEST_LINE,
): AsyncGenerator<Lines> {
  let unfinished: Uint8Array[] = [];
  let unfinishedBytes = 0;
  let number = 0;
  let bytesRead = 0;

  const finish = (rest: Uint8Array): Line => {
    const bytes = unfinished.length === 0 ? rest : Buffer.concat([...unfinished, rest]);
    unfinished = [];
    unfinishedBytes = 0;
    return { number: ++number, bytes };
  };

  for await (const chunk of chunks) {
    const found: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      found.push(finish(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) unfinished.push(chunk.subarray(start));
    unfinishedBytes += chunk.length - start;
    bytesRead += chunk.length;
    if (unfinishedBytes > longest) throw tooLong(number + 1, longest);
    yield withoutEmpty(found, bytesRead);
  }
  if (unfinishedBytes > 0) yield withoutEmpty([finish(new Uint8Array())], bytesRead);
}

function withoutEmpty(found: readonly Line[], bytesRead: number): Lines {
  const lines = found.filter((line) => !isEmpty(line));
  return { lines, empty: found.length - lines.length, bytesRead };
}

/** Nothing but space; in the first line perhaps a byte-order mark before it. */
function isEmpty({ number, bytes }: Line): boolean {
  const start = number === 1 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? BYTE_ORDER_MARK.length : 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}

function tooLong(number: number, longest: number): Error {
  return new LazaretError('LZ1301', `line ${number} is longer than ${longest} bytes.`, {
    hint: 'Newline-delimited JSON has one document per line; is this a file of another kind?',
  });
}
