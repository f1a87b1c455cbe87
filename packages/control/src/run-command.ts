import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger, QueueOptions, System } from 'lazaret';
import type { SqliteBroker } from 'lazaret/sqlite';
import type { CommandSpec, Globals } from './cli/command-spec.ts';
import { complain } from './cli/complain.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { present } from './cli/present.ts';
import { progressOn } from './cli/progress.ts';
import type { Output } from './cli/sink.ts';
import { consumeOptions } from './operations/consume-flags.ts';
import type { Static } from './operations/operation.ts';
import type { Input } from './run/input.ts';
import { runView } from './run-view.ts';

const input = {
  type: 'object',
  properties: {
    handler: { type: 'string', minLength: 1, description: 'module whose default export is called with each line' },
    input: { type: 'string', minLength: 1, description: "file with one JSON document per line; '-' is standard input" },
    queue: { type: 'string', minLength: 1, description: 'queue to run them through; default: the name of the file' },
    concurrency: { type: 'integer', minimum: 1, maximum: 1000, description: 'handlers at the same time (default: 10)' },
    maxAttempts: { type: 'integer', minimum: 1, description: 'runs of one line at most (default: 4)' },
    backoff: { type: 'string', description: "waits between them: a preset, or '2s,8s,30s'" },
    failOnQuarantine: { type: 'boolean', description: 'exit 7 when a line is quarantined' },
  },
  required: ['handler', 'input'],
  additionalProperties: false,
} as const;

type RunFlags = Static<typeof input>;

export interface RunAround {
  readonly output: Output;
  readonly stdin: Readable;
  /** Warnings and errors of the runtime. */
  readonly logger: Logger;
  /** From now on Ctrl-C only asks to stop, by this signal; a second one ends the process. */
  stopSignal(): AbortSignal;
  /** From now on console.log writes to stderr: stdout is for our data. */
  redirectConsole(): void;
  /** The file at `db`, created where it does not exist; a temporary one where `db` is undefined. */
  openBroker(db: string | undefined): Promise<{ readonly broker: SqliteBroker; readonly system: System }>;
}

const HELP = `Each line is sent to a queue in SQLite and consumed from there, so that retries, quarantine and evidence are those of
a real consumer. A line that is no JSON is quarantined with line and column. With --db the letters stay in that file, and lines
that were sent into it before are not sent again: a line is known by file name, number and content.
What the handler prints with console.log goes to stderr.`;

export function runCommand(around: RunAround): CommandSpec {
  return {
    name: 'run',
    summary: 'Run a file of JSON lines through a handler: done, retried, quarantined by cause',
    subject: 'handler',
    input,
    help: HELP,
    act: (flags, globals) => act(flags as RunFlags, globals, around),
  };
}

async function act(flags: RunFlags, globals: Globals, around: RunAround): Promise<ExitCode> {
  const { output } = around;
  const [{ loadHandler }, { openInput }, { run }] = await Promise.all([
    import('./run/handler-file.ts'),
    import('./run/input.ts'),
    import('./run/run.ts'),
  ]);
  around.redirectConsole();
  const stop = around.stopSignal();
  const handler = await loadHandler(flags.handler);
  const opened = await openInput(flags.input, around.stdin, stop);
  const { broker, system } = await around.openBroker(globals.db);
  const progress = await progressOn(output.stderr, 'MB', system.monotonic);
  try {
    const result = await run({
      system,
      logger: around.logger,
      stop,
      input: opened.name,
      chunks: opened.chunks,
      queue: flags.queue ?? queueOf(opened),
      handler,
      options: consumeOptions(optionFlags(flags)) as QueueOptions<unknown>,
      broker,
      remembers: globals.db !== undefined,
      progress: (bytesRead, underWay) =>
        progress.at(megabytes(bytesRead), opened.bytes && megabytes(opened.bytes), `${underWay} lines under way`),
    });
    progress.end();
    const report = {
      ...result.summary,
      interrupted: stop.aborted,
      ...(globals.db === undefined ? {} : { db: globals.db }),
    };
    const view = runView(flags.failOnQuarantine === true);
    const repeated = globals.db === undefined ? [] : ['--db', globals.db];
    await present(report, view, output, { now: system.now() }, { json: globals.json, repeated });
    return 'problem' in result ? complain(result.problem, output.stderr, globals.json) : view.exitCode!(report);
  } finally {
    progress.end();
    await broker.close();
  }
}

function optionFlags({ concurrency, maxAttempts, backoff }: RunFlags) {
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(backoff === undefined ? {} : { backoff }),
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}

function queueOf({ name }: Input): string {
  return name.slice(0, name.length - extname(name).length) || name;
}
