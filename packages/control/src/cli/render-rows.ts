import { block, field } from './safe-text.ts';
import { exactly, type Part, type Shown } from './view.ts';

/** What a command shows, for a pipe: tab-separated rows without a head, exact values, one line each. A block without a name stays lines. */
export function renderRows(parts: Shown['parts']): string {
  return parts
    .flatMap(rowsOf)
    .map((line) => `${line}\n`)
    .join('');
}

function rowsOf(part: Part): readonly string[] {
  switch (part.kind) {
    case 'table':
      return part.rows.map((row) => row.map((value) => field(exactly(value))).join('\t'));
    case 'fields':
      return part.fields.map(([name, value]) => `${field(name)}\t${field(exactly(value))}`);
    case 'block': {
      const text = exactly(part.text);
      return [part.name === undefined ? block(text) : `${field(part.name)}\t${field(text)}`];
    }
  }
}
