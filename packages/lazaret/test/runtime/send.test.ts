import { describe, expect, it } from 'vitest';
import type { OutgoingMessage, PublishOptions, PublishResult, SendOptions } from '../../src/index.ts';
import { send } from '../../src/runtime/outgoing.ts';
import { over, scene } from './scene.ts';

async function sent(body: unknown, options: object = {}, result: PublishResult = 'done') {
  const seen: { message: OutgoingMessage; options: PublishOptions }[] = [];
  const { process } = scene();
  const broker = over(process().broker, {
    publish: async (_queue, messages, given) => {
      seen.push({ message: messages[0]!, options: given ?? {} });
      return [result];
    },
  });
  await send(broker, 'orders', body, options as SendOptions, () => 'fresh');
  return seen[0]!;
}

const text = ({ message }: { message: OutgoingMessage }) => new TextDecoder().decode(message.body!);

describe('send', () => {
  it.each<[string, unknown, string]>([
    ['a value as JSON', { order: 1 }, '{"order":1}'],
    ['a string in quotes', 'x', '"x"'],
    ['a value that says itself', { toJSON: () => 5 }, '5'],
    ['bytes as they are', new TextEncoder().encode('x'), 'x'],
    ['a Buffer as it is', Buffer.from('x'), 'x'],
  ])('takes %s', async (_, body, expected) => {
    expect(text(await sent(body))).toBe(expected);
  });

  it('takes null as a tombstone', async () => {
    expect((await sent(null)).message.body).toBeNull();
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  it.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['a BigInt inside', { n: 1n }],
    ['a cycle', cycle],
    ['undefined', undefined],
    ['a function', () => {}],
    ['an ArrayBuffer', new ArrayBuffer(2)],
    ['a DataView', new DataView(new ArrayBuffer(2))],
    ['an Int16Array', new Int16Array(2)],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a promise', Promise.resolve(1)],
    ['what says nothing of itself', { toJSON: () => undefined }],
  ])('refuses %s with LZ1002', async (_, body) => {
    await expect(sent(body)).rejects.toMatchObject({ code: 'LZ1002', hint: expect.stringContaining('Uint8Array') });
  });

  it.each<[string, unknown]>([
    ['a record', { a: 'b', __proto__: null }],
    ['a list', [['a', 'b']]],
  ])('takes headers as %s', async (_, headers) => {
    expect((await sent(1, { headers })).message.headers).toEqual([['a', 'b']]);
  });

  it.each<[string, unknown]>([
    ['a number as a value', { a: 1 }],
    ['an entry without a value', [['a']]],
    ['a name that is no text', [[1, 'a']]],
    ['a Map', new Map([['a', 'b']])],
    ['text', 'a: b'],
    ['null', null],
  ])('refuses headers with %s', async (_, headers) => {
    await expect(sent(1, { headers })).rejects.toMatchObject({
      code: 'LZ1002',
      message: expect.stringMatching(/^headers: /),
    });
  });

  it.each<[object, string]>([
    [{ dealy: '5m' }, 'LZ1001'],
    [{ id: 7 }, 'LZ1002'],
    [{ key: 7 }, 'LZ1002'],
    [{ dedupeId: 7 }, 'LZ1002'],
    [{ delay: 5 }, 'LZ1042'],
    [{ delay: 'soon' }, 'LZ1043'],
  ])('refuses %j with %s', async (options, code) => {
    await expect(sent(1, options)).rejects.toMatchObject({ code });
  });

  it('hands on what it is given, and a fresh id where it is given none', async () => {
    expect((await sent(1)).message).toMatchObject({ id: 'fresh' });
    const { message, options } = await sent(1, { id: 'i', key: 'k', dedupeId: 'd', delay: '5m' });
    expect(message).toMatchObject({ id: 'i', key: 'k', dedupeId: 'd' });
    expect(options).toEqual({ delayMs: 300_000 });
  });

  it.each<[string, PublishResult]>([
    ['is refused', 'refused'],
    ['has nowhere to go', 'unroutable'],
    ['may or may not have arrived', 'unknown'],
    ['fails', new Error('no connection')],
  ])('says what to do where a message %s', async (_, result) => {
    await expect(sent(1, {}, result)).rejects.toMatchObject({
      code: 'LZ1208',
      hint: expect.stringMatching(/\w+.*\.$/),
    });
  });

  it('delays a message by delay', async () => {
    const { system, process, of, heard } = scene();
    const { app } = process('1s');
    app.consume('orders', () => {});
    await app.start();
    await app.send('orders', 1, { id: 'now' });
    await app.send('orders', 1, { id: 'later', delay: '30s' });
    await system.advance(29_000);
    expect(of('done')).toMatchObject([{ id: 'now' }]);
    await system.advance(3_000);
    expect(heard.find(({ event }) => 'id' in event && event.id === 'later')!.at).toBeGreaterThanOrEqual(30_000);
    await app.stop();
  });
});

describe('a connection that failed', () => {
  it('is not remembered: the next send tries again', async () => {
    const { lazaret } = await import('../../src/index.ts');
    const { process, system } = scene();
    const { broker } = process();
    let connects = 0;
    const connect = async () => {
      if (++connects < 3) throw new Error('ECONNREFUSED');
      return broker;
    };
    const app = lazaret({ broker: { name: 'memory', connect }, logger: false, system });
    await expect(app.send('orders', 1)).rejects.toThrow('ECONNREFUSED');
    await expect(app.send('orders', 1)).rejects.toThrow('ECONNREFUSED');
    await app.send('orders', 1);
    await app.send('orders', 1);
    expect(connects).toBe(3);
    await app.stop();
    await expect(app.send('orders', 1)).rejects.toMatchObject({ code: 'LZ1054', hint: expect.any(String) });
  });
});
