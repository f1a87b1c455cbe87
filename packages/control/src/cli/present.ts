import { painter, renderForPeople } from './render-people.ts';
import { renderRows } from './render-rows.ts';
import { cell, safeJson, toAscii } from './safe-text.ts';
import { shellLine } from './shell-line.ts';
import type { Output, Sink } from './sink.ts';
import type { Shown, Sight, View } from './view.ts';

export interface Manner {
  readonly json: boolean;
  /** Words that every next command repeats: '--db', 'orders.db'. */
  readonly repeated: readonly string[];
}

/** Writes the output of a command: as JSON where that was asked for, in columns on a terminal, in tab-separated rows anywhere else. */
export async function present<O extends object>(
  output: O,
  view: View<O>,
  to: Output,
  sight: Sight,
  manner: Manner,
): Promise<void> {
  const { stdout, stderr } = to;
  if (manner.json) {
    writeDocument(stdout, { schema: `lazaret/${view.document}`, ...output });
    return;
  }
  const shown = view.show(output, sight);
  const { terminal } = stdout;
  stdout.write(terminal.interactive ? await renderForPeople(shown.parts, terminal) : renderRows(shown.parts));
  for (const note of shown.notes ?? []) say(stderr, note);
  if (terminal.interactive && shown.next !== undefined) sayNext(stderr, shown, manner);
}

/** One JSON document on one line. */
export function writeDocument(sink: Sink, document: object): void {
  const { interactive, unicode } = sink.terminal;
  sink.write(`${safeJson(JSON.stringify(document), interactive && !unicode)}\n`);
}

/** One sentence for people. */
export function say(sink: Sink, sentence: string): void {
  sink.write(`${speakable(sink, cell(sentence))}\n`);
}

function sayNext(sink: Sink, { next = [] }: Shown, { repeated }: Manner): void {
  const line = speakable(sink, cell(shellLine([...next, ...repeated])));
  sink.write(`${painter(sink.terminal)('Next:', 'faint')} ${line}\n`);
}

function speakable({ terminal }: Sink, text: string): string {
  return terminal.unicode ? text : toAscii(text);
}
