import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { complain } from './cli/complain.ts';
import { EXIT, type ExitCode } from './cli/exit-code.ts';
import { operationCommand } from './cli/operation-command.ts';
import { say } from './cli/present.ts';
import { runProgram } from './cli/program.ts';
import type { Output, Sink } from './cli/sink.ts';
import { terminalOf } from './cli/terminal.ts';
import { VIEWS } from './cli/views/index.ts';
import { demoCommand } from './demo-command.ts';
import { NOUNS, OPERATIONS } from './operations/index.ts';
import type { Services } from './operations/services.ts';
import { runCommand } from './run-command.ts';
import { simulateCommand } from './simulate-command.ts';
import { stderrLogger } from './stderr-logger.ts';
import { stopSignal } from './stop-signal.ts';
import { keptFolder, temporaryFolder } from './temporary-folder.ts';

// Control's composition root: it alone knows the process, its environment, and which driver there is.

const DEFAULT_DB = 'lazaret.db';
/** How long lines of a file stay known, so that a second run does not double them. */
const REMEMBERED = '30d';
/** Timers of the library do not keep a process alive; a command that waits for one has to. */
const LONG_MS = 2 ** 30;

const argv = process.argv.slice(2);
const output: Output = { stdout: sinkOn(process.stdout), stderr: sinkOn(process.stderr) };
const monotonic = () => performance.now();

const alive = setInterval(() => {}, LONG_MS);
process.stdout.on('error', endWithReader);
process.once('exit', tellOfEarlyEnd);
const exitCode = await main();
process.off('exit', tellOfEarlyEnd);
clearInterval(alive);
// A handler may have left a timer or a socket behind, so we do not wait for the loop to run dry; what was written goes out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));

async function main(): Promise<ExitCode> {
  try {
    return await runProgram(argv, { version: version(), commands: commands(), nouns: NOUNS, output });
  } catch (thrown) {
    return complain(thrown, output.stderr, argv.includes('--json'));
  }
}

function commands() {
  const now = () => Date.now();
  const around = { output, stdin: process.stdin, now, monotonic };
  return [
    ...OPERATIONS.map((operation) =>
      operationCommand(operation, VIEWS.get(operation.name)!, { ...around, open: openServices }),
    ),
    runCommand({
      ...around,
      logger: stderrLogger(output.stderr, monotonic),
      stopSignal: () =>
        stopSignal(() => say(output.stderr, 'Stopping: what runs is finished. Ctrl-C again ends at once.')),
      redirectConsole,
      openBroker: (db) => openBroker(db ?? join(temporaryFolder(), 'run.db')),
    }),
    simulateCommand({
      ...around,
      readText: (file) => readFile(file, 'utf8'),
      writeText: (file, text) => writeFile(file, text),
    }),
    demoCommand({ output, stopSignal: () => stopSignal(() => {}), folder, openBroker }),
  ];
}

async function openServices(db: string | undefined, progress: Services['progress']) {
  const { existingFile, sqliteServices } = await import('./sqlite-services.ts');
  const { broker } = await openBroker(await existingFile(db ?? DEFAULT_DB, db !== undefined));
  return {
    services: sqliteServices(broker, { progress, person: person(), now: () => Date.now() }),
    close: () => broker.close(),
  };
}

async function openBroker(file: string) {
  const [{ realSystem: system }, { openSqlite }] = await Promise.all([import('lazaret'), import('lazaret/sqlite')]);
  return { system, broker: await openSqlite({ file, system, dedupeWindow: REMEMBERED }) };
}

/** Who sets something by hand. */
function person(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

function folder(keep: boolean): string {
  return keep ? keptFolder() : temporaryFolder();
}

function sinkOn(stream: NodeJS.WriteStream): Sink {
  return {
    terminal: terminalOf(stream, process.env, colourFlag()),
    write: (text) => void stream.write(text),
  };
}

/** Known before the command line is read, since its errors have colours too. */
function colourFlag(): boolean | undefined {
  if (argv.includes('--no-color')) return false;
  return argv.includes('--color') ? true : undefined;
}

function redirectConsole(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** `… | head` has read enough; that is no failure. */
function endWithReader(error: NodeJS.ErrnoException): void {
  process.off('exit', tellOfEarlyEnd);
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
}

/** A handler that calls process.exit would pass for a run that went well. */
function tellOfEarlyEnd(code: number): void {
  if (code !== EXIT.ok) return;
  process.exitCode = EXIT.failed;
  say(output.stderr, 'The process was ended from within, before the command was through.');
}
