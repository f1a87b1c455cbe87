import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHandler } from '../../src/run/handler-file.ts';
import { type Input, openInput } from '../../src/run/input.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lazaret-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('loadHandler', () => {
  it.each([
    ['a default export', 'a.mjs', 'export default () => 1'],
    ['an export called handler', 'b.mjs', 'export const handler = () => 1'],
    ['module.exports', 'c.cjs', 'module.exports = () => 1'],
    ['exports.handler', 'd.cjs', 'exports.handler = () => 1'],
  ])('takes %s', async (_, name, text) => {
    const handler = await loadHandler(file(name, text));
    expect(handler(undefined as never, undefined as never)).toBe(1);
  });

  it.each([
    [
      'no function',
      'e.mjs',
      'export const orders = 1; export default {}',
      'LZ1202',
      /exports no function \(it exports default, orders\)/,
    ],
    ['nothing', 'f.mjs', '', 'LZ1202', /it exports nothing/],
    ['an error', 'g.mjs', 'throw new TypeError("boom")', 'LZ1201', /does not load: TypeError: boom\./],
    ['no JavaScript', 'h.mjs', 'export default (', 'LZ1201', /does not load: /],
    ['TypeScript', 'i.ts', 'export default (', 'LZ1201', /compile it first/],
  ])('refuses a module with %s', async (_, name, text, code, message) => {
    await expect(loadHandler(file(name, text))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('refuses what is no file', async () => {
    await expect(loadHandler(join(folder, 'nosuch.mjs'))).rejects.toMatchObject({
      code: 'LZ1201',
      message: expect.stringMatching(/does not exist/),
    });
    await expect(loadHandler(folder)).rejects.toMatchObject({
      code: 'LZ1201',
      message: expect.stringMatching(/is no file/),
    });
  });
});

describe('openInput', () => {
  const never = new AbortController().signal;
  const text = async ({ chunks }: Input) => {
    const read: Uint8Array[] = [];
    for await (const chunk of chunks) read.push(chunk);
    return Buffer.concat(read).toString();
  };

  it('reads a file, and knows its name and size', async () => {
    const input = await openInput(file('orders.ndjson', '{"a":1}\n'), Readable.from([]), never);
    expect(input).toMatchObject({ name: 'orders.ndjson', bytes: 8 });
    expect(await text(input)).toBe('{"a":1}\n');
  });

  it('reads standard input, whose size nobody knows', async () => {
    const input = await openInput('-', Readable.from([Buffer.from('x')]), never);
    expect(input).toMatchObject({ name: 'stdin' });
    expect(input.bytes).toBeUndefined();
    expect(await text(input)).toBe('x');
  });

  it.each([
    ['nosuch.ndjson', /there is no such file/],
    ['.', /is a folder/],
  ])('refuses %s', async (name, message) => {
    await expect(openInput(join(folder, name), Readable.from([]), never)).rejects.toMatchObject({
      code: 'LZ1301',
      message: expect.stringMatching(message),
    });
  });

  it('says so when reading fails on the way', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('EIO'));
      },
    });
    await expect(text(await openInput('-', broken, never))).rejects.toMatchObject({ code: 'LZ1301' });
  });

  it('ends without an error when it is stopped, although it waits for more', async () => {
    const controller = new AbortController();
    const waiting = text(await openInput('-', new Readable({ read() {} }), controller.signal));
    controller.abort();
    expect(await waiting).toBe('');
  });
});
