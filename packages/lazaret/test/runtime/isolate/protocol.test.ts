import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reply, Request } from '../../../src/runtime/isolate/protocol.ts';
import {
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeRequest,
  LONGEST_WHY,
} from '../../../src/runtime/isolate/protocol.ts';

const TOKEN = '018bcfe5-6800-7000-8000-000000000001';
const HEADER_BYTES = 4;

function read(value: unknown): Reply | undefined {
  return decodeReply(TOKEN, Buffer.from(TOKEN + JSON.stringify(value)));
}

describe('a reply', () => {
  it.each<Reply>([
    { kind: 'ready' },
    { kind: 'unfit' },
    { kind: 'unloadable', thrown: [{ type: 'string', text: 'boom' }] },
    { kind: 'ended', job: 1, end: { kind: 'done' } },
    { kind: 'ended', job: 2, end: { kind: 'skip', why: 'a test order' } },
    { kind: 'ended', job: 3, end: { kind: 'quarantine', why: '' } },
    { kind: 'ended', job: 4, end: { kind: 'retryIn', delayMs: 300_000, why: 'closed' } },
    { kind: 'ended', job: 5, end: { kind: 'threw', thrown: [{ type: 'object', name: 'Error', message: 'boom' }] } },
    { kind: 'extend', job: 1, ask: 7, ms: 120_000 },
    { kind: 'uses', bytes: 1024 },
    { kind: 'dying', of: 'TypeError: x' },
  ])('is read as it was written: $kind', (reply) => {
    expect(decodeReply(TOKEN, encodeReply(TOKEN, reply).subarray(HEADER_BYTES))).toEqual(reply);
  });

  const long = 'x'.repeat(LONGEST_WHY + 1);
  it.each<[what: string, value: unknown]>([
    ['nothing', null],
    ['a word', 'ready'],
    ['an unknown kind', { kind: 'settled' }],
    ['a kind of every object', { kind: 'constructor' }],
    ['an end without a number', { kind: 'ended', end: { kind: 'done' } }],
    ['a number that is none', { kind: 'ended', job: '1', end: { kind: 'done' } }],
    ['a negative number', { kind: 'ended', job: -1, end: { kind: 'done' } }],
    ['a broken number', { kind: 'ended', job: 1.5, end: { kind: 'done' } }],
    ['no end', { kind: 'ended', job: 1 }],
    [
      'an outcome that only the runtime says',
      { kind: 'ended', job: 1, end: { kind: 'refused', reason: 'crash', why: 'no' } },
    ],
    ['an outcome that gives back', { kind: 'ended', job: 1, end: { kind: 'givenBack', delayMs: 0, why: 'no' } }],
    [
      'a failure that is classified already',
      { kind: 'ended', job: 1, end: { kind: 'failed', failure: { kind: 'poison' } } },
    ],
    ['a long why', { kind: 'ended', job: 1, end: { kind: 'skip', why: long } }],
    ['no why', { kind: 'ended', job: 1, end: { kind: 'quarantine' } }],
    ['a delay without end', { kind: 'ended', job: 1, end: { kind: 'retryIn', delayMs: 1e15, why: '' } }],
    ['a thrown value without links', { kind: 'ended', job: 1, end: { kind: 'threw', thrown: [] } }],
    [
      'too many links',
      { kind: 'ended', job: 1, end: { kind: 'threw', thrown: Array(10).fill({ type: 'null', text: '' }) } },
    ],
    [
      'a link of unknown type',
      { kind: 'ended', job: 1, end: { kind: 'threw', thrown: [{ type: 'proxy', text: '' }] } },
    ],
    [
      'a link without words',
      { kind: 'ended', job: 1, end: { kind: 'threw', thrown: [{ type: 'object', name: 'E' }] } },
    ],
    ['an unknown brand', threw({ brand: 'toString' })],
    ['a long stack', threw({ stack: 'x'.repeat(33 * 1024) })],
    ['a code that is an object', threw({ code: {} })],
    ['labels without end', threw({ errorLabels: Array(9).fill('x') })],
    ['an extension without end', { kind: 'extend', job: 1, ask: 1, ms: 1e15 }],
    ['an extension of nothing', { kind: 'extend', job: 1, ask: null, ms: 1 }],
    ['long last words', { kind: 'dying', of: long }],
  ])('is refused: %s', (_, value) => {
    expect(read(value)).toBeUndefined();
  });

  function threw(fields: object): unknown {
    return {
      kind: 'ended',
      job: 1,
      end: { kind: 'threw', thrown: [{ type: 'object', name: 'E', message: '', ...fields }] },
    };
  }

  it('is refused without the token, before it is parsed', () => {
    const done = JSON.stringify({ kind: 'ready' });
    expect(decodeReply(TOKEN, Buffer.from(done))).toBeUndefined();
    expect(decodeReply(TOKEN, Buffer.from(`${TOKEN.slice(0, -1)}2${done}`))).toBeUndefined();
  });

  it('is refused, and nothing is thrown, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeReply(TOKEN, Buffer.concat([Buffer.from(TOKEN), bytes]))).toBeUndefined();
      }),
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => void read(value)));
  });

  it('changes no prototype', () => {
    decodeReply(TOKEN, Buffer.from(`${TOKEN}{"kind":"ready","__proto__":{"polluted":true}}`));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('a request', () => {
  it('carries bytes as bytes', () => {
    const request: Request = {
      kind: 'perform',
      job: 1,
      delivery: {
        message: {
          id: 'm-1',
          body: new Uint8Array([0, 255, 10]),
          headers: [
            ['x', new Uint8Array([1])],
            ['__proto__', 'y'],
          ],
        },
        source: { queue: 'orders' },
        attempt: 1,
        firstSeenAt: 0,
      },
    };
    expect(decodeRequest(encodeRequest(request).subarray(HEADER_BYTES))).toEqual(request);
  });
});
