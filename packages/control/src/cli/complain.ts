import { type Refusal, refusalOf } from '../operations/refusal.ts';
import { type ExitCode, exitCodeOf } from './exit-code.ts';
import { writeDocument } from './present.ts';
import { painter } from './render-people.ts';
import { cell, toAscii } from './safe-text.ts';
import type { Sink } from './sink.ts';

const DOCS = 'docs/reference/errors.md';

/** Says what went wrong, as JSON where the data would have been JSON, and answers how the process should end. */
export function complain(thrown: unknown, stderr: Sink, json: boolean): ExitCode {
  const refusal = refusalOf(thrown);
  if (json) writeDocument(stderr, { error: documentOf(refusal) });
  else complainToPeople(refusal, stderr);
  return exitCodeOf(refusal.code);
}

function documentOf({ code, message, hint }: Refusal): object {
  return { code: code ?? 'unexpected', message, ...(hint === undefined ? {} : { hint }), docs: DOCS };
}

function complainToPeople({ code, message, hint }: Refusal, stderr: Sink): void {
  const text = cell(hint === undefined ? message : `${message} ${hint}`);
  const title = painter(stderr.terminal)(code === undefined ? 'error' : `error ${code}`, 'bad');
  stderr.write(`${title}: ${stderr.terminal.unicode ? text : toAscii(text)}\n`);
}
