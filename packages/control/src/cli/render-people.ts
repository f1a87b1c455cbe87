import picocolors from 'picocolors';
import { block, cell, toAscii } from './safe-text.ts';
import type { Terminal } from './terminal.ts';
import { type Column, forPeople, type Part, type Shown, type Style } from './view.ts';

export type Paint = (text: string, style: Style | undefined) => string;

/** What a command shows, for a terminal: without frames, in columns, each text made safe. */
export async function renderForPeople(parts: Shown['parts'], terminal: Terminal): Promise<string> {
  const paint = painter(terminal);
  const pieces: string[] = [];
  for (const part of parts) pieces.push(await renderPart(part, terminal, paint));
  const text = pieces.filter((piece) => piece !== '').join('\n');
  return terminal.unicode ? text : toAscii(text);
}

/** Colours where the stream has them; else nothing but the text. */
export function painter({ colours }: Terminal): Paint {
  const { bold, dim, red, green } = picocolors.createColors(colours);
  const styles = { strong: bold, faint: dim, bad: red, good: green };
  return (text, style) => (style === undefined ? text : styles[style](text));
}

async function renderPart(part: Part, terminal: Terminal, paint: Paint): Promise<string> {
  switch (part.kind) {
    case 'table':
      return part.rows.length === 0 ? '' : renderTable(part, terminal, paint);
    case 'fields':
      return renderFields(part.fields, paint);
    case 'block':
      return renderBlock(part, paint);
  }
}

const GAP = 2;
const NARROWEST_WIDE = 20;

async function renderTable(
  { columns, rows }: Extract<Part, { kind: 'table' }>,
  terminal: Terminal,
  paint: Paint,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const texts = rows.map((row) => row.map((value) => cell(forPeople(value))));
  const table = new Table({
    head: columns.map(({ title }) => paint(title, 'faint')),
    chars: NO_FRAME,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: columns.map((column, at) => (column.wide ? wideWidth(columns, texts, at, terminal.columns) : null)),
  });
  for (const row of texts) table.push(row.map((text, at) => paint(text, columns[at]?.style)));
  return `${table.toString().replace(/ +$/gm, '')}\n`;
}

/** What the other columns leave. Their letters are counted, not measured: a wide one more or less does no harm here. */
function wideWidth(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  wide: number,
  width: number,
): number {
  const taken = columns.reduce(
    (sum, { title }, at) =>
      at === wide ? sum : sum + GAP + rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), title.length),
    0,
  );
  const longest = rows.reduce((most, row) => Math.max(most, row[wide]?.length ?? 0), columns[wide]!.title.length);
  return Math.max(NARROWEST_WIDE, Math.min(longest, width - taken));
}

const NO_FRAME = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
} as const;

function renderBlock({ name, note, text }: Extract<Part, { kind: 'block' }>, paint: Paint): string {
  const lines = block(forPeople(text));
  if (name === undefined) return `${lines}\n`;
  const title = paint(cell(note === undefined ? name : `${name} · ${note}`), 'faint');
  return lines === '' ? `${title}\n` : `${title}\n${lines.replace(/^/gm, '  ')}\n`;
}

function renderFields(fields: Extract<Part, { kind: 'fields' }>['fields'], paint: Paint): string {
  const width = fields.reduce((most, [name]) => Math.max(most, name.length), 0);
  return fields.map(([name, value]) => `${paint(name.padEnd(width), 'faint')}  ${cell(forPeople(value))}\n`).join('');
}
