import type { SimulationSetup } from 'lazaret/testing';
import { describe, expect, it } from 'vitest';
import { complain } from '../../src/cli/complain.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { simulateCommand } from '../../src/simulate-command.ts';
import { captured, PIPE, TERMINAL } from '../cli/captured.ts';
import { NOW } from '../fake-services.ts';
import { fakeRun } from './fake-run.ts';

interface Circumstances {
  readonly terminal?: Terminal;
  readonly files?: Readonly<Record<string, string>>;
}

/** The command over a simulation that knows one thing: without storm control four attempts are too few. */
async function simulate(argv: readonly string[], { terminal = PIPE, files = {} }: Circumstances = {}) {
  const stdout = captured(terminal);
  const stderr = captured(terminal);
  const output = { stdout: stdout.sink, stderr: stderr.sink };
  const asked: SimulationSetup[] = [];
  const written = new Map<string, string>();
  const command = simulateCommand({
    output,
    now: () => NOW,
    monotonic: () => 0,
    async readText(file) {
      const text = files[file];
      if (text === undefined) throw new Error(`no such file: ${file}`);
      return text;
    },
    async writeText(file, text) {
      if (file.startsWith('nowhere')) throw new Error('no such folder');
      written.set(file, text);
    },
    async runAll(setups, done) {
      done(setups.length);
      asked.push(...setups);
      return setups.map(({ policy: { storm, maxAttempts } }) =>
        fakeRun({ quarantined: storm === false && maxAttempts === 4 ? 6_893 : 0, callsInTrouble: 162_814 }),
      );
    },
  });
  const exitCode = await runProgram(['simulate', ...argv], {
    version: '9.9.9',
    commands: [command],
    nouns: {},
    output,
  }).catch((thrown: unknown) => complain(thrown, output.stderr, argv.includes('--json')));
  return { exitCode, stdout: stdout.text(), stderr: stderr.text(), asked, written };
}

const armsOf = (stdout: string) => stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));

describe('simulate', () => {
  it('compares five policies in three seeds each, with all that is the same for them', async () => {
    const { stdout, asked, exitCode } = await simulate([]);
    expect(exitCode).toBe(0);
    expect(armsOf(stdout)).toEqual(['fixed', 'exponential', 'full jitter', 'bounded', 'lazaret']);
    expect(asked.map(({ seed }) => seed)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    for (const setup of asked) {
      expect(setup).toMatchObject({ perSecond: 50, instances: 4, servers: 20, serviceMs: 100, troubleMs: 180_000 });
      expect(setup.policy.concurrency).toBe(25);
    }
    expect(asked.at(-1)!.policy).toEqual({ concurrency: 25 });
  });

  it.each<[argv: readonly string[], change: Partial<SimulationSetup>]>([
    [['--scenario', 'hang'], { trouble: { kind: 'hang' } }],
    [['--scenario', 'brownout'], { trouble: { kind: 'brownout', left: 0.15 } }],
    [['--scenario', 'errors'], { trouble: { kind: 'errors', share: 0.3 } }],
    [['--full'], { troubleMs: 1_200_000, afterMs: 1_200_000 }],
    [['--load', '7'], { perSecond: 7 }],
    [['--instances', '2'], { instances: 2 }],
    [['--seed', '9', '--seeds', '1'], { seed: 9 }],
    [['--concurrency', '60'], { policy: { concurrency: 60 } }],
    [['--max-attempts', '9'], { policy: { concurrency: 25, maxAttempts: 9 } }],
    [['--backoff', '1s,2s'], { policy: { concurrency: 25, backoff: ['1s', '2s'] } }],
    [['--jitter', 'full'], { policy: { concurrency: 25, jitter: 'full' } }],
    [['--timeout', '9s'], { policy: { concurrency: 25, timeout: '9s' } }],
    [['--rate-limit', '5/s'], { policy: { concurrency: 25, rateLimit: '5/s' } }],
  ])('hears %j', async (argv, change) => {
    const { asked } = await simulate(argv);
    expect(asked.at(argv.includes('--seed') ? 0 : -1)).toMatchObject(change);
  });

  it('takes a policy from a file, under what the flags say, and its concurrency for all', async () => {
    const files = {
      'p.json': '{"maxAttempts": 2, "jitter": "none", "concurrency": 30, "storm": {"without": ["breaker"]}}',
    };
    const { stdout, asked, stderr } = await simulate(['--policy', 'p.json', '--max-attempts', '9'], { files });
    expect(armsOf(stdout).at(-1)).toBe('yours');
    const policy = { maxAttempts: 9, jitter: 'none', concurrency: 30, storm: { without: ['breaker'] } };
    expect(asked.at(-1)!.policy).toEqual(policy);
    expect(asked[0]!.policy.concurrency).toBe(30);
    expect(stderr).toContain('Doctor: 120 handlers (4 × concurrency 30)');
    expect((await simulate(['--policy', 'p.json', '--concurrency', '5'], { files })).asked[0]!.policy.concurrency).toBe(
      5,
    );
  });

  it('leaves out of a policy where its handler runs, which changes no figure', async () => {
    const files = { 'p.json': '{"isolate": "process", "maxAttempts": 5}' };
    expect((await simulate(['--policy', 'p.json'], { files })).asked.at(-1)!.policy).toEqual({
      concurrency: 25,
      maxAttempts: 5,
    });
  });

  it('runs policies that try for ever in one seed where twenty minutes are asked for, and says so', async () => {
    const { stdout, stderr, asked } = await simulate(['--full']);
    expect(asked).toHaveLength(3 + 2 * 3);
    expect(stdout.split('\n').map((line) => line.split('\t')[1])).toEqual(['1', '1', '1', '3', '3', undefined]);
    expect(stderr).toContain('medians of 3 seeds, one where it is tried for ever.');
  });

  it('fits a table into 100 columns, with the one sentence below it', async () => {
    const { stdout, stderr } = await simulate([], { terminal: TERMINAL });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(/^POLICY .*\n(?:.*\n)*bounded +3 +162,814 .* 6,893 /);
    expect(stderr).toContain(
      "With bounded retries alone a 3-minute outage puts 6,893 healthy messages into the quarantine; with Lazaret's defaults none.\n",
    );
  });

  it('is one document with --json, with the report too', async () => {
    const { stdout, stderr, written } = await simulate(['--json', '--out', 'r.html']);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'lazaret/simulation@1',
      scenario: 'outage',
      headline: expect.stringContaining('6,893'),
      arms: expect.arrayContaining([
        expect.objectContaining({ arm: 'bounded', quarantined: { low: 6893, median: 6893, high: 6893 } }),
      ]),
      findings: [],
    });
    expect(stderr).toBe('');
    expect(written.get('r.html')).toMatch(/^<!doctype html>/);
  });

  it('writes the command into the report that makes the same figures again', async () => {
    const files = { 'my policy.json': '{}' };
    const { written, stderr } = await simulate(
      ['--out', 'r.html', '--full', '--seed', '4', '--policy', 'my policy.json'],
      { files },
    );
    expect(written.get('r.html')).toContain(
      '<code>lazaret simulate --full --seed 4 --policy &#39;my policy.json&#39;</code>',
    );
    expect(stderr).toMatch(/The report is in r\.html\.\n$/);
  });

  it('has said its figures before a report that cannot be written fails', async () => {
    const { stdout, stderr, exitCode } = await simulate(['--out', 'nowhere/r.html']);
    expect(armsOf(stdout)).toHaveLength(5);
    expect(stderr).toContain('no such folder');
    expect(exitCode).toBe(1);
  });

  it.each([
    [['--scenario', 'outrage'], /LZ1002: --scenario: 'outrage' is not one of its values\. Did you mean 'outage'\?/],
    [['--policy', 'none.json'], /LZ1301: the policy 'none\.json' cannot be read: no such file/],
    [['--policy', 'broken.json'], /LZ1301: the policy 'broken\.json' cannot be read/],
    [['--policy', 'list.json'], /LZ1301: the policy 'list\.json' is no object/],
    [['--policy', 'odd.json'], /LZ1001/],
    [['--policy', 'proto.json'], /LZ1001/],
    [['--backoff', 'patent'], /LZ1050/],
    [['--timeout', '15'], /LZ1042/],
    [['--seeds', '0'], /LZ1003/],
  ])('refuses %j before anything runs', async (argv, complaint) => {
    const files = {
      'broken.json': '{',
      'list.json': '[]',
      'odd.json': '{"maxAttemps": 3}',
      'proto.json': '{"__proto__": {"storm": false}}',
    };
    const { exitCode, stderr, stdout, asked } = await simulate(argv, { files });
    expect(stderr).toMatch(complaint);
    expect({ exitCode, stdout, asked }).toEqual({ exitCode: 2, stdout: '', asked: [] });
  });
});
