import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/core/errors.ts';

const PAGE = 'docs/reference/errors.md';

interface Row {
  readonly code: string;
  readonly name: string;
  readonly happened: string;
  readonly todo: string;
}

const ROW = /^\| (LZ\d+) \| (.*?) \| (.*?) \| (.*?) \|$/gm;

function rowsOf(page: string): readonly Row[] {
  return Array.from(page.matchAll(ROW), ([, code = '', name = '', happened = '', todo = '']) => ({
    code,
    name,
    happened,
    todo,
  }));
}

/** What has to be done to the page so that it tells the same table; empty when nothing. */
function edits(table: Readonly<Record<string, string>>, rows: readonly Row[]): readonly string[] {
  const told = new Map(rows.map((row) => [row.code, row]));
  const codes = Object.keys(table);
  const missing = codes.flatMap((code, at) =>
    told.has(code)
      ? []
      : [
          `${at === 0 ? 'first' : `after ${codes[at - 1]}`}, add: | ${code} | ${table[code]} | What happened. | What to do. |`,
        ],
  );
  const wrong = rows.flatMap(({ code, name, happened, todo }) => {
    if (table[code] === undefined) return [`remove the line of ${code}, which is no code any more`];
    if (name !== table[code]) return [`in the line of ${code}, name it: ${table[code]}`];
    if (!isSentence(happened)) return [`in the line of ${code}, say what happened, as a sentence`];
    return isSentence(todo) ? [] : [`in the line of ${code}, say what to do, as a sentence`];
  });
  const found = [...missing, ...wrong];
  if (found.length > 0 || rows.map((row) => row.code).join() === codes.join()) return found;
  return [`list each code once, in this order: ${codes.join(' ')}`];
}

function isSentence(text: string): boolean {
  return /^[A-Z`].{8,}\.$/.test(text);
}

describe('the page of errors', () => {
  const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');

  it('lists exactly the codes of the table, in order, with what happened and what to do', () => {
    expect(edits(ERRORS, rowsOf(page)), `edit ${PAGE}`).toEqual([]);
  });
});

describe('a page that tells another table', () => {
  const table = { LZ1001: 'unknown option', LZ1002: 'option has the wrong type' };
  const first = '| LZ1001 | unknown option | An option is unknown. | Correct the name. |';
  const second = '| LZ1002 | option has the wrong type | It has another type. | Give that type. |';

  it.each([
    ['nothing when it tells the same', `text\n${first}\n| --- |\n${second}\n`, []],
    [
      'the line to add, and where',
      first,
      ['after LZ1001, add: | LZ1002 | option has the wrong type | What happened. | What to do. |'],
    ],
    [
      'the line to remove',
      `${first}\n${second}\n| LZ1999 | gone | It was here. | Remove it. |`,
      ['remove the line of LZ1999, which is no code any more'],
    ],
    [
      'the name to correct',
      `${first.replace('unknown option', 'strange option')}\n${second}`,
      ['in the line of LZ1001, name it: unknown option'],
    ],
    [
      'the sentence that is missing',
      `${first.replace('Correct the name.', '')}\n${second}`,
      ['in the line of LZ1001, say what to do, as a sentence'],
    ],
    ['the order to keep', `${second}\n${first}`, ['list each code once, in this order: LZ1001 LZ1002']],
    [
      'the code that is told twice',
      `${first}\n${first}\n${second}`,
      ['list each code once, in this order: LZ1001 LZ1002'],
    ],
  ])('is answered with %s', (_, page, expected) => {
    expect(edits(table, rowsOf(page))).toEqual(expected);
  });
});
