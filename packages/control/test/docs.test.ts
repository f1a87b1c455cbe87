import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MECHANISMS, STORM } from 'lazaret/core';
import { describe, expect, it } from 'vitest';
import { complain } from '../src/cli/complain.ts';
import { flagsOf } from '../src/cli/flags.ts';
import { operationCommand } from '../src/cli/operation-command.ts';
import { runProgram } from '../src/cli/program.ts';
import { VIEWS } from '../src/cli/views/index.ts';
import { NOUNS, OPERATIONS } from '../src/operations/index.ts';
import { type SimulateAround, simulateCommand } from '../src/simulate-command.ts';
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

  it('names all flags of simulate', () => {
    const { input } = simulateCommand({} as SimulateAround);
    const own = rows.slice(rows.indexOf('## simulate')).join('\n');
    for (const { name } of flagsOf(input, undefined).flags) expect(own).toContain(`\`${name}\``);
  });
});

describe('the page of storm control', () => {
  const text = page('explanation/storm-control.md');

  it('has a row for each mechanism that can be left out', () => {
    for (const name of MECHANISMS.filter((one) => one !== 'rate')) expect(text).toContain(`| \`${name}\` |`);
  });

  it('says the numbers that are in force', () => {
    const { breaker, fuse, systemic, guilt, budget, concurrency } = STORM;
    const percent = (share: number) => `${100 * share} %`;
    for (const said of [
      `opens at ${percent(breaker.share)} failures of at least ${breaker.least} in ${breaker.windowMs / 1000} s`,
      `After ${breaker.openMs / 1000} s, then 10, then ${breaker.longestOpenMs / 1000}`,
      `${fuse.least} letters of one fingerprint, if they are ${percent(fuse.share)} of what ends in ${fuse.windowMs / 60_000} min`,
      `half of at least ${systemic.least} distinct messages`,
      `above ${percent(systemic.pauseShare)} the queue is paused`,
      `longer than ${concurrency.fineMs} ms`,
      `longer than ${budget.longestWaitMs / 1000} s for one`,
    ]) {
      expect(text).toContain(said);
    }
    expect([guilt.others, guilt.windowMs, concurrency.bound, systemic.share]).toEqual([2, 600_000, 2, 0.5]);
  });
});
