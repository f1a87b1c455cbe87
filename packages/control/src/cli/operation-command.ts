import type { Operation } from '../operations/operation.ts';
import { refuse } from '../operations/refusal.ts';
import type { Services } from '../operations/services.ts';
import type { CommandSpec, Globals } from './command-spec.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { present } from './present.ts';
import { type Progress, progressOn } from './progress.ts';
import { readNames } from './read-names.ts';
import { isShowable } from './safe-text.ts';
import type { Output } from './sink.ts';
import type { View } from './view.ts';

export interface Around {
  readonly output: Output;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Epoch milliseconds. */
  now(): number;
  monotonic(): number;
  /** What there is in the database that was named, or in the default one. */
  open(
    db: string | undefined,
    progress: Services['progress'],
  ): Promise<{ readonly services: Services; close(): Promise<void> }>;
}

/** An operation as a command: its input from flags, its output through its view. */
export function operationCommand(operation: Operation, view: View, around: Around): CommandSpec {
  const { name, summary, subject, input } = operation;
  return {
    name,
    summary,
    input,
    ...(subject === undefined ? {} : { subject }),
    ...(view.raw === undefined ? {} : { switches: { raw: 'write the exact bytes of the body' } }),
    act: (given, globals) => act(operation, view, given, globals, around),
  };
}

async function act(
  operation: Operation,
  view: View,
  given: object,
  globals: Globals,
  around: Around,
): Promise<ExitCode> {
  const { output } = around;
  const input = await withPipedNames(operation, given, around);
  const progress = await progressOn(output.stderr, operation.name.split(' ')[0]!, around.monotonic);
  const result = await runOperation(operation, input, globals, around, progress);
  if (globals.switches.has('raw')) writeRaw(view.raw!(result as never), output);
  else await present(result, view as View<object>, output, { now: around.now() }, manner(globals));
  return view.exitCode?.(result as never) ?? EXIT.ok;
}

async function runOperation(
  operation: Operation,
  input: object,
  { db }: Globals,
  around: Around,
  progress: Progress,
): Promise<object> {
  const opened = await around.open(db, (done, total) => progress.at(done, total));
  try {
    return await operation.run(opened.services, input as never);
  } finally {
    progress.end();
    await opened.close();
  }
}

/** A hyphen where names are listed means: those that come in. */
async function withPipedNames({ subject = '', input }: Operation, given: object, { stdin }: Around): Promise<object> {
  if (input.properties?.[subject]?.type !== 'array') return given;
  const names = (given as Readonly<Record<string, readonly string[]>>)[subject] ?? [];
  const read = names.length === 1 && names[0] === '-' ? await readNames(stdin) : names;
  return { ...given, [subject]: read };
}

/** A terminal would obey what a body may hold. */
function writeRaw(bytes: Uint8Array, { stdout }: Output): void {
  if (stdout.terminal.interactive && !isShowable(bytes)) {
    throw refuse(
      'LZ1305',
      'the body holds bytes that a terminal would obey.',
      'Send them somewhere: --raw > body.bin, or --raw | cat -v',
    );
  }
  stdout.write(bytes);
}

function manner({ db, json }: Globals): { readonly json: boolean; readonly repeated: readonly string[] } {
  return { json, repeated: db === undefined ? [] : ['--db', db] };
}
