import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { HOSTILE, OBEYED } from './cli/corpus.ts';
import { type Circumstances, lazaret, start, workshop } from './command.ts';

const place = workshop();
afterAll(() => place.remove());
afterEach(() => expect(readdirSync(place.temporary), 'what a command left behind').toEqual([]));

function file(name: string, text: string | Uint8Array): string {
  writeFileSync(join(place.folder, name), text);
  return name;
}

const run = (argv: readonly string[], circumstances?: Circumstances) => lazaret(argv, place, circumstances);

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

file(
  'picky.mjs',
  "import { Poison } from 'lazaret'; export default (msg) => { if (msg.json().bad) throw new Poison(msg.json().bad); }",
);
file('quick.mjs', 'export default () => {}');

describe('the command', () => {
  it.each([
    [
      ['--version'],
      0,
      `${(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version}\n`,
    ],
    [['messages', 'ls'], 3, ''],
    [['demo', '--speed', '99'], 2, ''],
    [['nonsense'], 2, ''],
  ])('answers %j without a warning of the platform', async (argv, exitCode, stdout) => {
    const ended = await run(argv);
    expect(ended).toMatchObject({ exitCode, stdout });
    expect(ended.stderr).not.toMatch(/Warning|at .*\.js/);
  });

  it.each([
    ['queues', 'ls'],
    ['messages', 'ls'],
    ['messages', 'show', '1'],
    ['messages', 'release', '1'],
    ['queues', 'explain', 'orders'],
    ['breaker', 'show'],
    ['queues', 'pause', 'orders', '--why', 'x'],
  ])('creates no database to look into: %s %s', async (...argv) => {
    const ended = await run([...argv, '--db', 'nosuch.db']);
    expect(ended).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^error LZ1306: there is no database 'nosuch.db'/);
    expect(existsSync(join(place.folder, 'nosuch.db'))).toBe(false);
  });

  it('refuses a file that is no database of ours', async () => {
    const ended = await run([
      'queues',
      'ls',
      '--db',
      file('text.db', 'just a text file, long enough to be looked at'.repeat(50)),
    ]);
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^error LZ1110/);
  });
});

describe('lazaret run', () => {
  it.each([
    ['the queue is named after the file', [], 'orders'],
    ['or as one says', ['--queue', 'billing'], 'billing'],
  ])('keeps letters in the file that is named: %s', async (_, flags, queue) => {
    const db = `${queue}.db`;
    const input = file('orders.ndjson', '{"a":1}\n{"a" 2}\n');
    const ended = await run(['run', 'quick.mjs', '--input', input, '--db', db, ...flags]);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout).toMatch(/^lines\t2\ndone\t1\nretried\t0\nquarantined\t1\n/);
    expect(ended.stderr).toBe('Accounted for: 2 of 2 lines.\n');
    const listed = await run(['messages', 'ls', '--db', db]);
    expect(listed.stdout).toMatch(
      new RegExp(`^\\d+\torders.ndjson:2\t${queue}\tundecodable\t1\t.*line 2, column 6: expected ':', found '2'\n$`),
    );
  });

  it.each([
    ['a quarantined line is accounted for', '{"a" 1}\n', [], 0],
    ['unless that is asked for', '{"a" 1}\n', ['--fail-on-quarantine'], 7],
    ['which needs a quarantined line', '{"a":1}\n', ['--fail-on-quarantine'], 0],
    ['nothing at all is accounted for', '', [], 0],
  ])('ends like this: %s', async (_, stdin, flags, exitCode) => {
    expect(await run(['run', 'quick.mjs', '--input', '-', ...flags], { stdin })).toMatchObject({ exitCode });
  });

  it('keeps every byte of a line', async () => {
    const odd = [Buffer.from('\ufeff{"a":1,}\r'), Buffer.from([0x7b, 0xff, 0x00, 0x1b, 0x7d]), Buffer.from('[1,2')];
    const input = file(
      'odd.ndjson',
      Buffer.concat(odd.flatMap((line, at) => (at === 0 ? [line] : [Buffer.from('\n'), line]))),
    );
    await run(['run', 'quick.mjs', '--input', input, '--db', 'odd.db']);
    for (const [at, line] of odd.entries()) {
      expect((await run(['messages', 'show', `odd.ndjson:${at + 1}`, '--raw', '--db', 'odd.db'])).bytes).toEqual(line);
    }
  });

  it('does not double what an earlier run sent, and says so', async () => {
    const input = file('twice.ndjson', '{"a":1}\n{"a":2}\n');
    await run(['run', 'quick.mjs', '--input', input, '--db', 'twice.db']);
    file('twice.ndjson', '{"a":1}\n{"a":2}\n{"a":3}\n');
    const { stdout } = await run(['run', 'quick.mjs', '--input', input, '--db', 'twice.db', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'lazaret/run@1', lines: 3, done: 1, known: 2, accounted: true });
  });

  it('counts letters of an earlier run as quarantined still', async () => {
    const argv = [
      'run',
      'quick.mjs',
      '--input',
      file('again.ndjson', '{"a" 1}\n'),
      '--db',
      'again.db',
      '--fail-on-quarantine',
    ];
    expect(await run(argv)).toMatchObject({ exitCode: 7 });
    expect(await run(argv)).toMatchObject({ exitCode: 7 });
  });

  it.each([
    ['--max-attempts', ['--max-attempts', '1'], 1],
    ['--backoff', ['--backoff', '10ms,20ms,30ms'], 4],
  ])('obeys %s', async (_, flags, attempts) => {
    file('failing.mjs', 'export default () => { throw new Error("no") }');
    const db = `attempts-${attempts}.db`;
    const input = file('one.ndjson', '1\n');
    await run(['run', 'failing.mjs', '--input', input, '--db', db, ...flags]);
    const shown = await run(['messages', 'show', 'one.ndjson:1', '--db', db, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ reason: 'exhausted', attempts });
  });

  it.each([1, 7])('obeys --concurrency %d', async (concurrency) => {
    file(
      'most.mjs',
      'let now = 0, most = 0; export default async () => { most = Math.max(most, ++now); console.log("most", most); await new Promise((r) => setTimeout(r, 5)); now--; }',
    );
    const stdin = '1\n'.repeat(50);
    const { stderr } = await run(['run', 'most.mjs', '--input', '-', '--concurrency', String(concurrency)], { stdin });
    const most = [...stderr.matchAll(/most (\d+)/g)].map(([, number]) => Number(number));
    expect(Math.max(...most)).toBe(concurrency);
  });

  it('leaves stdout to its own data, whatever the handler prints', async () => {
    file('loud.mjs', 'export default () => { console.log("hello") }');
    const ended = await run(['run', 'loud.mjs', '--input', '-', '--json'], { stdin: '1\n' });
    expect(JSON.parse(ended.stdout)).toMatchObject({ done: 1 });
    expect(ended.stderr).toBe('hello\n');
  });

  it.each([
    [['run', 'nosuch.mjs', '--input', '-'], 2, /^error LZ1201/],
    [['run', file('none.mjs', 'export const a = 1'), '--input', '-'], 2, /^error LZ1202/],
    [['run', 'quick.mjs', '--input', 'nosuch.ndjson'], 2, /^error LZ1301/],
    [['run', 'quick.mjs'], 2, /^error LZ1305: --input is missing/],
    [['run', 'quick.mjs', '--input', '-', '--backoff', '2'], 2, /^error LZ1042/],
    [['run', 'quick.mjs', '--input', '-', '--max-attempts', '0'], 2, /^error LZ1003: --max-attempts/],
  ])('refuses %j', async (argv, exitCode, stderr) => {
    const ended = await run(argv);
    expect(ended).toMatchObject({ exitCode, stdout: '' });
    expect(ended.stderr).toMatch(stderr);
  });

  it('does not pass for a success when the handler ends the process', async () => {
    file('exit.mjs', 'export default () => process.exit(0)');
    const ended = await run(['run', 'exit.mjs', '--input', '-'], { stdin: '1\n' });
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ended.stderr).toMatch(/ended from within/);
  });

  describe('interrupted', () => {
    file(
      'slow.mjs',
      'export default async () => { console.log("begun"); await new Promise((r) => setTimeout(r, 200)); }',
    );
    file('hung.mjs', 'export default () => { console.log("begun"); return new Promise(() => {}); }');
    const input = file('many.ndjson', '1\n'.repeat(40));

    it('finishes what runs, says what is where, and goes on the next time', async () => {
      const running = start(['run', 'slow.mjs', '--input', input, '--db', 'many.db', '--json'], place);
      await running.said('begun');
      running.child.kill('SIGINT');
      const ended = await running.ended;
      expect(ended.exitCode).toBe(130);
      const first = JSON.parse(ended.stdout) as { done: number; waiting: number; lines: number };
      expect(first).toMatchObject({ interrupted: true, accounted: false, quarantined: 0 });
      expect(first.done).toBeGreaterThan(0);
      expect(first.done + first.waiting).toBe(first.lines);
      const second = JSON.parse(
        (await run(['run', 'quick.mjs', '--input', input, '--db', 'many.db', '--json'])).stdout,
      ) as object;
      expect(second).toMatchObject({ lines: 40, done: 40 - first.done, known: first.done, accounted: true });
    });

    it('ends at once the second time', async () => {
      const running = start(['run', 'hung.mjs', '--input', input], place);
      await running.said('begun');
      running.child.kill('SIGINT');
      await running.said('Ctrl-C again');
      running.child.kill('SIGINT');
      expect(await running.ended).toMatchObject({ exitCode: 130, stdout: '' });
    });
  });
});

describe('letters', () => {
  it('are listed, shown, released, and gone through again', async () => {
    const db = ['--db', 'life.db'];
    const input = file('life.ndjson', '{"bad":"no such item"}\n{"a":1}\n{"bad":"no such item"}\n');
    const { stderr } = await run(['run', 'picky.mjs', '--input', input, ...db]);
    expect(stderr).toBe('Accounted for: 3 of 3 lines.\n');
    const listed = await run(['messages', 'ls', '--reason', 'poison', '--limit', '1', ...db]);
    expect(lines(listed.stdout)).toHaveLength(1);
    const next = /--after (\S+)/.exec(listed.stderr)?.[1];
    expect(lines((await run(['messages', 'ls', '--queue', 'life', '--after', next!, ...db])).stdout)).toHaveLength(1);
    expect(JSON.parse((await run(['queues', 'show', 'life', '--json', ...db])).stdout)).toMatchObject({
      causes: [{ count: 2 }],
    });

    const all = await run(['messages', 'ls', ...db]);
    const released = await run(['messages', 'release', '-', ...db], { stdin: all.stdout });
    expect(released).toMatchObject({ exitCode: 0, stderr: '2 released.\n' });
    const again = await run(['run', 'quick.mjs', '--input', input, ...db, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ done: 2, known: 1, open: 0 });
    expect(await run(['messages', 'ls', ...db])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringMatching(/^No messages match/),
    });
  });

  it('end a list quietly when nobody reads on', async () => {
    const input = file('long.ndjson', '{"bad":"x"}\n'.repeat(500));
    await run(['run', 'picky.mjs', '--input', input, '--db', 'long.db']);
    const running = start(['messages', 'ls', '--limit', '500', '--db', 'long.db'], place);
    running.child.stdout!.destroy();
    expect(await running.ended).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/EPIPE|error/) });
  });

  it('leave a terminal nothing to obey, whatever a message holds, all the way through', async () => {
    const input = file('hostile.ndjson', HOSTILE.map(([, text]) => `${JSON.stringify({ bad: text })}\n`).join(''));
    const ran = await run(['run', 'picky.mjs', '--input', input, '--db', 'hostile.db']);
    expect(ran.stdout).toMatch(new RegExp(`^quarantined\t${HOSTILE.length}$`, 'm'));
    const { messages } = JSON.parse((await run(['messages', 'ls', '--json', '--db', 'hostile.db'])).stdout) as {
      messages: { id: string }[];
    };
    const outputs = [ran];
    for (const env of [{}, { LAZARET_FORCE_TTY: '120' }, { LAZARET_FORCE_TTY: '120', LANG: 'C' }]) {
      outputs.push(await run(['messages', 'ls', '--db', 'hostile.db'], { env }));
      outputs.push(await run(['queues', 'show', 'hostile', '--db', 'hostile.db'], { env }));
    }
    for (const { id } of messages.slice(0, 5)) {
      outputs.push(await run(['messages', 'show', id, '--db', 'hostile.db'], { env: { LAZARET_FORCE_TTY: '120' } }));
    }
    for (const { stdout, stderr } of outputs)
      expect(`${stdout}${stderr}`.replaceAll(/[\n\t]/g, '')).not.toMatch(OBEYED);
  }, 60_000);
});

describe('the demo', () => {
  it('is interrupted without leaving anything behind', async () => {
    const running = start(['demo', '--headless'], place);
    const begun = new Promise<void>((resolve) =>
      running.child.stdout!.on('data', (chunk) => String(chunk).includes('1. ') && resolve()),
    );
    await begun;
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({
      exitCode: 130,
      stdout: expect.stringMatching(/Nothing is left behind\.\n$/),
    });
  });
});
