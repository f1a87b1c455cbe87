import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complain } from '../src/cli/complain.ts';
import { flagsOf } from '../src/cli/flags.ts';
import { operationCommand } from '../src/cli/operation-command.ts';
import { runProgram } from '../src/cli/program.ts';
import { VIEWS } from '../src/cli/views/index.ts';
import { NOUNS, OPERATIONS } from '../src/operations/index.ts';
import { captured } from './cli/captured.ts';
import { REPOSITORY } from './command.ts';
import { fakeServices, NOW } from './fake-services.ts';

const page = (name: string) => readFileSync(join(REPOSITORY, 'docs', name), 'utf8');

/** The command lines of a page, as a shell would take them apart. */
function commandLines(text: string): readonly (readonly string[])[] {
  const blocks = Array.from(text.matchAll(/```sh\n(.*?)```/gs), ([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '');
  return lines.map((line) => Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? ''));
}

/** A command line over fake services with a queue 'orders'. */
async function run([lazaret, ...argv]: readonly string[]) {
  expect(lazaret).toBe('lazaret');
  const [stdout, stderr] = [captured(), captured()];
  const output = { stdout: stdout.sink, stderr: stderr.sink };
  const services = fakeServices();
  const around = {
    output,
    stdin: (async function* () {})(),
    now: () => NOW,
    monotonic: () => 0,
    open: async () => ({ services, close: async () => {} }),
  };
  const commands = OPERATIONS.map((operation) => operationCommand(operation, VIEWS.get(operation.name)!, around));
  const exitCode = await runProgram(argv, { version: '0', commands, nouns: NOUNS, output }).catch((thrown: unknown) =>
    complain(thrown, output.stderr, false),
  );
  return { exitCode, stderr: stderr.text() };
}

describe('Stop a queue at 3 a.m.', () => {
  const lines = commandLines(page('how-to/stop-a-queue.md'));

  it('has commands to paste', () => expect(lines.length).toBeGreaterThanOrEqual(8));

  it.each(lines.map((line) => [line.join(' '), line] as const))('says what can be said: %s', async (_, line) => {
    const { exitCode, stderr } = await run(line);
    expect(exitCode, stderr).toBe(0);
  });
});

describe('the page of commands', () => {
  const rows = page('reference/commands.md').split('\n');

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'names %s with its flags',
    (name, one) => {
      const { argument, flags } = flagsOf(one.input, one.subject);
      const row = rows.find((line) => new RegExp(`^\\| \`lazaret ${name}(?: |\`)`).test(line)) ?? '';
      expect(row).toContain(argument === undefined ? `lazaret ${name}` : `lazaret ${name} ${argument.syntax}`);
      if (!name.startsWith('queues explain')) for (const flag of flags) expect(row).toContain(flag.name);
    },
  );
});
