import { Argument, Command, CommanderError, Option } from 'commander';
import { type Given, readInput } from '../operations/read-input.ts';
import { refuse } from '../operations/refusal.ts';
import type { CommandSpec, Globals } from './command-spec.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { type Flag, flagsOf } from './flags.ts';
import { toAscii } from './safe-text.ts';
import type { Output, Sink } from './sink.ts';

export interface ProgramSetup {
  readonly version: string;
  readonly commands: readonly CommandSpec[];
  /** What the first words of commands of two words are. */
  readonly nouns: Readonly<Record<string, string>>;
  readonly output: Output;
}

const HELP = `
Examples:
  $ lazaret demo                                             see it work, with nothing installed
  $ lazaret run handler.mjs --input orders.ndjson            real lines through your handler
  $ lazaret messages ls --db orders.db                       what is in the quarantine, and why
  $ lazaret messages ls --db orders.db | lazaret messages release - --db orders.db
  $ lazaret queues pause orders --for 30m --why 'INC-42'     stop it now, and let it go on by itself

Exit codes: 0 done, also when nothing matched · 1 failed · 2 usage · 3 not found · 7 partly done · 130 interrupted`;

/** Runs what `argv` (without node and script) says. Resolves with the exit code; rejects with what is to be complained about. */
export async function runProgram(argv: readonly string[], setup: ProgramSetup): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = build(setup, (code) => {
    exitCode = code;
  });
  if (argv.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return usageOf(thrown);
  }
  return exitCode;
}

function build({ version, commands, nouns, output }: ProgramSetup, ended: (code: ExitCode) => void): Command {
  const program = new Command('lazaret')
    .description('The quarantine behind your consumers')
    .version(version, '-V, --version', 'print the version')
    .option('--db <file>', 'the SQLite file to look into (default: ./lazaret.db)')
    .option('--json', 'one JSON document instead of a table')
    .option('--color', 'colours also where they would be left out')
    .option('--no-color', 'no colours')
    .helpOption('-h, --help', 'print help')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => write(output.stdout, text),
      writeErr: (text) => write(output.stderr, text),
      // Complained about by whoever called us, as every other error.
      outputError: () => {},
      getOutHelpWidth: () => output.stdout.terminal.columns,
      getErrHelpWidth: () => output.stderr.terminal.columns,
    })
    .exitOverride()
    .addHelpText('after', HELP);
  const parents = new Map<string, Command>();
  for (const spec of commands) {
    const [noun = '', verb] = spec.name.split(' ');
    if (verb === undefined) addCommand(program, noun, spec, ended);
    else {
      const parent = parents.get(noun) ?? program.command(noun).description(nouns[noun] ?? '');
      parents.set(noun, parent);
      addCommand(parent, verb, spec, ended);
    }
  }
  return program;
}

function write(sink: Sink, text: string): void {
  sink.write(sink.terminal.unicode ? text : toAscii(text));
}

function addCommand(parent: Command, name: string, spec: CommandSpec, ended: (code: ExitCode) => void): void {
  const { argument, flags } = flagsOf(spec.input, spec.subject);
  const command = parent.command(name).description(spec.summary);
  if (argument !== undefined) command.addArgument(new Argument(argument.syntax, argument.description));
  for (const flag of flags) command.addOption(optionOf(flag));
  for (const [name, description] of Object.entries(spec.switches ?? {})) command.option(`--${name}`, description);
  if (spec.help !== undefined) command.addHelpText('after', `\n${spec.help}`);
  const all = argument === undefined ? flags : [argument, ...flags];
  const nameOf = (property: string) => all.find((flag) => flag.property === property)?.name ?? property;
  command.action(async () => {
    const input = readInput(spec.input, givenTo(command, argument, flags), nameOf);
    ended(await spec.act(input, globalsOf(command, spec)));
  });
}

function givenTo(command: Command, argument: Flag | undefined, flags: readonly Flag[]): ReadonlyMap<string, Given> {
  const given = new Map<string, Given>();
  const [subject] = command.processedArgs as readonly (Given | undefined)[];
  if (argument !== undefined && subject !== undefined) given.set(argument.property, subject);
  for (const { property } of flags) {
    const value = command.getOptionValue(property) as Given | undefined;
    if (value !== undefined) given.set(property, value);
  }
  return given;
}

/** n.b. the schema fills in defaults and checks values; here they only stand in the help. */
function optionOf({ syntax, description, default: fallback, choices }: Flag): Option {
  const known = [
    ...(choices === undefined || syntax.includes('|') ? [] : [choices.join(', ')]),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ];
  return new Option(syntax, known.length === 0 ? description : `${description} (${known.join('; ')})`);
}

function globalsOf(command: Command, { switches = {} }: CommandSpec): Globals {
  const { db, json } = command.optsWithGlobals() as { db?: string; json?: true };
  return {
    ...(db === undefined ? {} : { db }),
    json: json === true,
    switches: new Set(Object.keys(switches).filter((name) => command.getOptionValue(name) === true)),
  };
}

/** Help and version have been written; a command line that cannot be understood is thrown on. */
function usageOf({ code, message }: CommanderError): ExitCode {
  if (code === 'commander.version' || code === 'commander.helpDisplayed') return EXIT.ok;
  if (code === 'commander.help') return EXIT.usage;
  const [what = '', meant] = message.replace(/^error: /, '').split('\n(');
  throw refuse('LZ1305', `${what}.`, meant === undefined ? "See 'lazaret --help'." : meant.replace(/\)$/, ''));
}
