import { describe, expect, it } from 'vitest';
import { complain } from '../../src/cli/complain.ts';
import { operationCommand } from '../../src/cli/operation-command.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { VIEWS } from '../../src/cli/views/index.ts';
import { NOUNS, OPERATIONS } from '../../src/operations/index.ts';
import { type FakeSetup, fakeServices, letter, NOW } from '../fake-services.ts';
import { captured, PIPE, TERMINAL } from './captured.ts';
import { HOSTILE, OBEYED } from './corpus.ts';

const LETTERS = [letter('3'), letter('17', { why: { reason: 'crash' } })];

interface Circumstances {
  readonly setup?: FakeSetup;
  readonly terminal?: Terminal;
  readonly stdin?: string;
}

/** The command line over fake services. */
async function lazaret(
  argv: readonly string[],
  { setup = { letters: LETTERS }, terminal = PIPE, stdin = '' }: Circumstances = {},
) {
  const stdout = captured(terminal);
  const stderr = captured(terminal);
  const output = { stdout: stdout.sink, stderr: stderr.sink };
  const services = fakeServices(setup);
  const opened: (string | undefined)[] = [];
  const around = {
    output,
    stdin: (async function* () {
      yield Buffer.from(stdin);
    })(),
    now: () => NOW,
    monotonic: () => 0,
    async open(db: string | undefined) {
      opened.push(db);
      return { services, close: async () => void opened.push('closed') };
    },
  };
  const commands = OPERATIONS.map((operation) => operationCommand(operation, VIEWS.get(operation.name)!, around));
  const exitCode = await runProgram(argv, { version: '9.9.9', commands, nouns: NOUNS, output }).catch(
    (thrown: unknown) => complain(thrown, output.stderr, argv.includes('--json')),
  );
  return { exitCode, stdout: stdout.text(), stderr: stderr.text(), bytes: stdout.bytes(), services, opened };
}

describe('the command line', () => {
  it.each([
    [['--version'], 0, /^9\.9\.9\n$/, /^$/],
    [['--help'], 0, /^Usage: lazaret .*Exit codes:/s, /^$/],
    [[], 0, /^Usage: lazaret/, /^$/],
    [['messages', '--help'], 0, /^Usage: lazaret messages/, /^$/],
    [['messages', 'ls', '--help'], 0, /--limit <n> .*at most so many \(default: 50\)/s, /^$/],
    [['messages'], 2, /^$/, /^Usage: lazaret messages/],
    [['mesages', 'ls'], 2, /^$/, /^error LZ1305: unknown command 'mesages'. Did you mean messages\?\n$/],
    [['messages', 'lss'], 2, /^$/, /unknown command 'lss'. Did you mean ls\?/],
    [['messages', 'ls', '--qeue', 'x'], 2, /^$/, /unknown option '--qeue'. Did you mean --queue\?/],
    [['messages', 'ls', '--limit', 'ten'], 2, /^$/, /LZ1002: --limit: 'ten' is not a whole number/],
    [['messages', 'show'], 2, /^$/, /missing required argument 'message'/],
    [['messages', 'show', '99'], 3, /^$/, /LZ1303/],
    [['queues', 'show', 'ordrs'], 3, /^$/, /LZ1302: there is no queue 'ordrs'. Did you mean 'orders'\?/],
    [['messages', 'release'], 2, /^$/, /LZ1304/],
    [['queues', 'pause', 'orders'], 2, /^$/, /LZ1305: --why is missing/],
    [['queues', 'pause', 'orders', '--why', 'x', '--for', '8d'], 2, /^$/, /LZ1003: for: '8d' is out of range/],
    [['queues', 'pause', 'orders', '--why', 'x'], 0, /^queue\torders\n/, /^Queue 'orders' is paused until .* \(30m\)/],
    [['breaker', 'show', 'ordrs'], 3, /^$/, /LZ1302/],
    [['breaker', 'half-opn', 'orders'], 2, /^$/, /Did you mean half-open\?/],
    [['messages', 'ls', '--reason', 'schema'], 0, /^$/, /^No messages match/],
  ])('answers %j', async (argv, exitCode, stdout, stderr) => {
    const answer = await lazaret(argv);
    expect(answer).toMatchObject({ exitCode });
    expect(answer.stdout).toMatch(stdout);
    expect(answer.stderr).toMatch(stderr);
  });

  it('takes flags that belong to all commands before and after the command', async () => {
    expect((await lazaret(['--db', 'a.db', 'queues', 'ls'])).opened).toEqual(['a.db', 'closed']);
    expect((await lazaret(['queues', 'ls', '--db', 'a.db'])).opened).toEqual(['a.db', 'closed']);
    expect((await lazaret(['queues', 'ls'])).opened).toEqual([undefined, 'closed']);
  });

  it('closes what it opened also when it fails', async () => {
    expect((await lazaret(['messages', 'show', '99'])).opened).toEqual([undefined, 'closed']);
  });

  it('hands the flags of a command on to the operation', async () => {
    expect((await lazaret(['messages', 'ls', '--reason', 'crash'])).stdout).toMatch(/^17\t/);
    expect((await lazaret(['queues', 'explain', 'orders', '--max-attempts', '2'])).stdout).toMatch(/attempt 2 ─ fails/);
  });

  it('names the next useful command on a terminal, ready to be pasted', async () => {
    const setup = { letters: LETTERS, queues: { "it's; rm": { dead: 2 } } };
    const { stderr } = await lazaret(['queues', 'ls', '--db', 'my shop.db'], { setup, terminal: TERMINAL });
    expect(stderr).toBe("Next: lazaret queues show 'it'\\''s; rm' --db 'my shop.db'\n");
    expect((await lazaret(['queues', 'ls'])).stderr).toBe('');
  });
});

describe('help', () => {
  it('speaks ASCII where the terminal does', async () => {
    const { stdout } = await lazaret(['--help'], { terminal: { ...TERMINAL, unicode: false } });
    expect(stdout).toMatch(/^[\n -~]+$/);
  });
});

describe('--json', () => {
  it.each([
    [['queues', 'ls'], 'lazaret/queues@1'],
    [['queues', 'show', 'orders'], 'lazaret/queue@1'],
    [['queues', 'explain', 'orders'], 'lazaret/timetable@1'],
    [['queues', 'pause', 'orders', '--why', 'x'], 'lazaret/order@1'],
    [['queues', 'resume', 'orders', '--why', 'x'], 'lazaret/order@1'],
    [['breaker', 'show'], 'lazaret/breakers@1'],
    [['breaker', 'open', 'orders', '--why', 'x'], 'lazaret/order@1'],
    [['breaker', 'automatic', 'orders', '--why', 'x'], 'lazaret/order@1'],
    [['messages', 'ls'], 'lazaret/messages@1'],
    [['messages', 'show', '3'], 'lazaret/message@1'],
    [['messages', 'release', '3'], 'lazaret/releases@1'],
  ])('makes one document of %j', async (argv, schema) => {
    const { stdout, stderr } = await lazaret([...argv, '--json'], { terminal: TERMINAL });
    expect(stdout).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ schema });
    expect(stderr).toBe('');
  });

  it('has an empty list where nothing matches', async () => {
    const { stdout, exitCode } = await lazaret(['messages', 'ls', '--json'], { setup: {} });
    expect(JSON.parse(stdout)).toEqual({ schema: 'lazaret/messages@1', messages: [], complete: true });
    expect(exitCode).toBe(0);
  });

  it.each([
    [['messages', 'show', '99', '--json'], 3, 'LZ1303'],
    [['messages', 'ls', '--jsno', '--json'], 2, 'LZ1305'],
  ])('makes JSON of errors too: %j', async (argv, exitCode, code) => {
    const answer = await lazaret(argv);
    expect(answer).toMatchObject({ exitCode, stdout: '' });
    expect(JSON.parse(answer.stderr)).toEqual({
      error: { code, message: expect.any(String), hint: expect.any(String), docs: 'docs/reference/errors.md' },
    });
  });

  it.each(HOSTILE)('leaves a terminal nothing to obey of %s, and says the same', async (_, text) => {
    const setup = {
      letters: [letter('3', { message: { id: 'e', key: text, body: null, headers: [] }, why: { why: text } })],
    };
    const { stdout } = await lazaret(['messages', 'show', '3', '--json'], { setup, terminal: TERMINAL });
    expect(stdout.replace(/\n$/, '')).not.toMatch(OBEYED);
    expect(JSON.parse(stdout)).toMatchObject({ key: text, why: text });
  });
});

describe('an error', () => {
  it.each(HOSTILE)('leaves a terminal nothing to obey of %s', async (_, text) => {
    const { stderr } = await lazaret(['messages', 'show', `x${text}`], { terminal: TERMINAL });
    expect(stderr).toMatch(/^error LZ1303: /);
    expect(stderr.replace(/\n$/, '')).not.toMatch(OBEYED);
  });

  it('that nobody foresaw is told without a stack', () => {
    const stderr = captured();
    expect(complain(new TypeError('it broke\nat line 3'), stderr.sink, false)).toBe(1);
    expect(stderr.text()).toBe('error: TypeError: it broke\\nat line 3\n');
  });
});

describe('messages show --raw', () => {
  const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x1b, 0x0d]);
  const setup = { letters: [letter('3', { message: { id: 'e', body: bytes, headers: [] } })] };

  it('writes the exact bytes, and nothing else', async () => {
    const answer = await lazaret(['messages', 'show', '3', '--raw'], { setup });
    expect(answer.bytes).toEqual(bytes);
    expect(answer.stderr).toBe('');
  });

  it('keeps bytes away from a terminal that would obey them', async () => {
    const answer = await lazaret(['messages', 'show', '3', '--raw'], { setup, terminal: TERMINAL });
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    expect(answer.stderr).toMatch(/a terminal would obey/);
  });
});

describe('messages release -', () => {
  it('takes what a list gave', async () => {
    const { stdout } = await lazaret(['messages', 'ls']);
    const { services, exitCode } = await lazaret(['messages', 'release', '-'], { stdin: stdout });
    expect(services.released).toEqual(['3', '17']);
    expect(exitCode).toBe(0);
  });

  it('does nothing with nothing', async () => {
    const answer = await lazaret(['messages', 'release', '-'], { stdin: '\n' });
    expect(answer).toMatchObject({ exitCode: 2, stdout: '', opened: [undefined, 'closed'] });
    expect(answer.services.released).toEqual([]);
  });
});
