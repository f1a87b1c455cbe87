import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NormalError, normalise } from '../../src/core/normalise.ts';
import { HOSTILE_VALUES } from './hostile-values.ts';

function expectBounded(error: NormalError): void {
  for (const link of [error, ...error.causes]) {
    expect(link.name.length).toBeLessThanOrEqual(256);
    expect(link.message.length).toBeLessThanOrEqual(8 * 1024);
    expect(link.stack?.length ?? 0).toBeLessThanOrEqual(32 * 1024);
    expect(link.code?.length ?? 0).toBeLessThanOrEqual(256);
  }
  expect(error.causes.length).toBeLessThanOrEqual(8);
  for (const cause of error.causes) expect(cause.causes).toEqual([]);
}

/** Plain data that survives every store: the same after JSON and after UTF-8. */
function expectPlain(error: NormalError): void {
  const json = JSON.stringify(error);
  expect(JSON.parse(json)).toEqual(error);
  expect(
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(new TextEncoder().encode(error.message)),
  ).toBe(error.message);
}

describe('normalise', () => {
  it.each(HOSTILE_VALUES)('makes plain and bounded data of %s', (_, value) => {
    const error = normalise(value);
    expectBounded(error);
    expectPlain(error);
    expect(error.name).not.toBe('');
  });

  it.each(HOSTILE_VALUES)('takes no longer than 5 ms for %s', (_, value) => {
    // The best of several: a pause of the machine is not our doing.
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 7 && best > 5; run++) {
      const start = process.hrtime.bigint();
      normalise(value);
      best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e6);
    }
    expect(best).toBeLessThanOrEqual(5);
  });

  it('holds for anything that can be built', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true }), (value) => {
        expectBounded(normalise(value));
        expectBounded(
          normalise(Object.assign(new Error('e'), { cause: value, code: value, status: value, errors: value })),
        );
      }),
    );
  });

  class OutOfStock extends Error {}
  class Shouting extends Error {
    override name = 'LOUD';
  }

  it.each<[string, unknown, Partial<NormalError>]>([
    ['an error', new RangeError('too far'), { name: 'RangeError', message: 'too far' }],
    ['a class that does not name itself', new OutOfStock('none left'), { name: 'OutOfStock' }],
    ['a class that does', new Shouting('x'), { name: 'LOUD' }],
    ['a DOMException', new DOMException('gone', 'AbortError'), { name: 'AbortError', message: 'gone', code: '20' }],
    ['undefined', undefined, { name: 'undefined', message: 'undefined was thrown' }],
    ['null', null, { name: 'null', message: 'null was thrown' }],
    ['a text', 'no stock', { name: 'string', message: 'no stock' }],
    ['a number', 42, { name: 'number', message: '42' }],
    ['a bigint', 42n, { name: 'bigint', message: '42' }],
    ['a huge bigint', -(10n ** 41n), { name: 'bigint', message: 'a bigint of more than 40 digits' }],
    ['a boolean', false, { name: 'boolean', message: 'false' }],
    ['a symbol', Symbol('why'), { name: 'symbol', message: 'why' }],
    ['a function', function handle() {}, { name: 'function', message: 'function handle' }],
    ['an array', ['first', 'second'], { name: 'Array', message: 'an array of 2 was thrown' }],
    ['an empty object', {}, { name: 'Object', message: 'Object without a message was thrown' }],
    ['a plain object', { message: 'm', code: 'C' }, { name: 'Object', message: 'm', code: 'C' }],
    ['an object that says it elsewhere', { reason: 'no stock', sku: 1 }, { name: 'Object', message: 'no stock' }],
    ['a gRPC status', { code: 14, details: 'no route' }, { message: 'no route', code: '14' }],
    ['a number as message', { message: 7 }, { message: '7' }],
  ])('names and words %s', (_, value, expected) => {
    expect(normalise(value)).toMatchObject(expected);
  });

  it.each<[string, unknown, number | undefined]>([
    ['status', { status: 503 }, 503],
    ['status as text', { status: '503' }, 503],
    ['statusCode', { statusCode: 429 }, 429],
    ['the response of axios and fetch', { response: { status: 404 } }, 404],
    ['the response of got', { response: { statusCode: 502 } }, 502],
    ['the metadata of AWS', { $metadata: { httpStatusCode: 400 } }, 400],
    ['the nearest of several', { status: 500, response: { status: 404 } }, 500],
    ['a word', { status: 'error' }, undefined],
    ['an exit code', { status: 137 }, undefined],
    ['a success', { status: 200 }, undefined],
    ['a fraction', { status: 503.5 }, undefined],
    ['out of range', { status: 999 }, undefined],
    ['a long text', { status: '503 Service Unavailable' }, undefined],
  ])('reads the status from %s', (_, value, expected) => {
    expect(normalise(value).status).toBe(expected);
  });

  it('has no optional field where nothing is known', () => {
    expect(Object.keys(normalise({ message: 'm' }))).toEqual(['name', 'message', 'causes']);
  });

  it('keeps causes nearest first, without their own', () => {
    const error = new Error('a', { cause: new TypeError('b', { cause: 'c' }) });
    expect(normalise(error).causes.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'TypeError: b',
      'string: c',
    ]);
  });

  it('takes the first errors of an AggregateError as causes, after its own cause', () => {
    const errors = Array.from({ length: 20 }, (_, n) => new Error(`${n}`));
    const { causes } = normalise(new AggregateError(errors, 'all', { cause: new Error('own') }));
    expect(causes.map(({ message }) => message)).toEqual(['own', '0', '1', '2', '3', '4', '5', '6']);
  });

  it.each([
    ['originalError', 'mssql'],
    ['original', 'Sequelize'],
    ['driverError', 'TypeORM'],
  ])('finds the wrapped error under %s (%s)', (key) => {
    expect(normalise(Object.assign(new Error('outer'), { [key]: new Error('inner') })).causes[0]?.message).toBe(
      'inner',
    );
  });

  it('leaves out a cause that is a method', () => {
    expect(normalise(Object.assign(new Error('v'), { cause: () => new Error('inner') })).causes).toEqual([]);
  });

  it('visits a cycle once', () => {
    const first = new Error('first');
    first.cause = new Error('second', { cause: first });
    expect(normalise(first).causes.map(({ message }) => message)).toEqual(['second']);
  });

  it('keeps control characters and replaces what cannot be encoded', () => {
    expect(normalise(new Error('a\u0000\u001b\r\n\ud83db')).message).toBe('a\u0000\u001b\r\n\ufffdb');
    expect(normalise(new Error('whole 😀')).message).toBe('whole 😀');
  });

  it('cuts no character in half', () => {
    const { message } = normalise(new Error(`${'x'.repeat(8190)}😀😀`));
    expect(message).toBe(`${'x'.repeat(8190)}…`);
  });

  it('keeps the frames of a stack behind a message that is longer than the stack may be', () => {
    const error = new Error('m'.repeat(1_000_000));
    const { stack } = normalise(error);
    expect(stack).toContain('normalise.test');
    expect(stack).toMatch(/^Error: m{255}…\n {4}at /);
  });

  it('reads a message of 1 MiB, and only counts one that takes too long to be touched', () => {
    expect(normalise(new Error('m'.repeat(1024 * 1024))).message).toBe(`${'m'.repeat(8191)}…`);
    const huge = normalise(new Error('m'.repeat(10_000_000)));
    expect(huge.message).toBe('a message of 10000000 characters');
    expect(huge.stack).toBeUndefined();
    const below = normalise(new Error('outer', { cause: new Error('m'.repeat(1024 * 1024)) }));
    expect(below.causes[0]?.message).toBe('a message of 1048576 characters');
  });

  it('asks a getter of the error once', () => {
    let asked = 0;
    const thrown = {
      get message() {
        asked++;
        return 'm';
      },
    };
    normalise(thrown);
    expect(asked).toBe(1);
  });
});
