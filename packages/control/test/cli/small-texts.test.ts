import { describe, expect, it } from 'vitest';
import { age } from '../../src/cli/age.ts';
import { exitCodeOf } from '../../src/cli/exit-code.ts';
import { hexDump } from '../../src/cli/hex-dump.ts';
import { readNames } from '../../src/cli/read-names.ts';
import { shellLine } from '../../src/cli/shell-line.ts';

describe('age', () => {
  it.each([
    [-5_000, 'now'],
    [999, 'now'],
    [41_000, '41s'],
    [59_999, '59s'],
    [14 * 60_000 + 3_000, '14m'],
    [90 * 60_000, '1h30m'],
    [11 * 3_600_000 + 60_000, '11h'],
    [51 * 3_600_000, '2d3h'],
    [40 * 86_400_000, '40d'],
  ])('of %d ms is %s', (ms, text) => {
    expect(age(1_000_000, 1_000_000 + ms)).toBe(text);
  });
});

describe('hexDump', () => {
  it('shows offset, bytes and letters, and how many more there are', () => {
    expect(hexDump(Buffer.from('{"order":"o-1"}\u00ff!'), 17)).toBe(
      '00000000  7b 22 6f 72 64 65 72 22 3a 22 6f 2d 31 22 7d c3  {"order":"o-1"}.\n' +
        `00000010  bf${' '.repeat(45)}  .\n… 1 more bytes`,
    );
  });
});

describe('shellLine', () => {
  it.each([
    ['what is plain as it is', ['lazaret', 'queues', 'show', 'orders'], 'lazaret queues show orders'],
    ['what a shell would run, in quotes', ['x', '; rm -rf ~', '$(id)'], "x '; rm -rf ~' '$(id)'"],
    ['quotes', ["it's"], "'it'\\''s'"],
    ['nothing', [''], "''"],
  ])('writes %s', (_, words, line) => {
    expect(shellLine(words)).toBe(line);
  });
});

describe('readNames', () => {
  it.each([
    ['one name a line', ['a\nb\r\n\n', '  c  '], ['a', 'b', 'c']],
    ['the first field of tab-separated lines', ['17\tevt-1\torders\n18\tevt-2\torders\n'], ['#17', '#18']],
    ['what a pipe cut in the middle of a letter', [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], ['é']],
    ['escapes of a field', ['a\\tb\\\\c\\x1b\\u{202e}\tx\n'], ['a\tb\\c\u001b\u202e']],
  ])('reads %s', async (_, chunks, names) => {
    const input = (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })();
    expect(await readNames(input)).toEqual(names);
  });
});

describe('exitCodeOf', () => {
  it.each([
    ['LZ1001', 2],
    ['LZ1201', 2],
    ['LZ1301', 2],
    ['LZ1302', 3],
    ['LZ1303', 3],
    ['LZ1304', 2],
    ['LZ1306', 3],
    ['LZ1115', 1],
    [undefined, 1],
  ])('of %s is %d', (code, exitCode) => {
    expect(exitCodeOf(code)).toBe(exitCode);
  });
});
