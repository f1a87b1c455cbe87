import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClassifyRules, classify } from '../../src/core/classify.ts';
import { DecodeError, Poison, SchemaError, Transient } from '../../src/core/failures.ts';
import type { Failure } from '../../src/core/outcome.ts';
import { HOSTILE_VALUES } from './hostile-values.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const HOUR_MS = 3_600_000;

/** Rules as plain JavaScript may hand them in. */
type AnyRules = {
  readonly [K in keyof ClassifyRules]: K extends 'classify' ? (error: unknown) => unknown : readonly unknown[];
};

function classified(thrown: unknown, rules: AnyRules = {}): Failure {
  return classify(thrown, rules as ClassifyRules, NOW);
}

/** `kind rule`, as one reads it in `explain`. */
function said(thrown: unknown, rules?: AnyRules): string {
  const { kind, rule } = classified(thrown, rules);
  return `${kind}: ${rule}`;
}

function error(fields: object, message = 'm'): Error {
  return Object.assign(new Error(message), fields);
}

function named(name: string, fields: object = {}, message = 'm'): Error {
  return error({ name, ...fields }, message);
}

describe('classify by codes', () => {
  it.each<[string, unknown, string]>([
    // HTTP, in the shapes of the clients
    ['fetch wrapper 503', error({ status: 503 }), 'transient: http 503'],
    ['a status as text', error({ status: '503' }), 'transient: http 503'],
    ['axios 429', error({ code: 'ERR_BAD_REQUEST', response: { status: 429 } }), 'transient: http 429'],
    ['axios 400', error({ code: 'ERR_BAD_REQUEST', response: { status: 400 } }), 'poison: http 400'],
    ['got 502', error({ code: 'ERR_NON_2XX_3XX_RESPONSE', response: { statusCode: 502 } }), 'transient: http 502'],
    ['a plain object with 500', { status: 500, message: 'm' }, 'transient: http 500'],
    ...[401, 403, 408, 425, 429, 500, 502, 503, 504, 529].map((status): [string, unknown, string] => [
      `HTTP ${status}`,
      error({ statusCode: status }),
      `transient: http ${status}`,
    ]),
    ...[400, 410, 422].map((status): [string, unknown, string] => [
      `HTTP ${status}`,
      error({ statusCode: status }),
      `poison: http ${status}`,
    ]),
    ...[302, 402, 404, 405, 409, 413, 415].map((status): [string, unknown, string] => [
      `HTTP ${status}`,
      error({ statusCode: status }),
      `unknown: http ${status}`,
    ]),
    ['an exit code that looks like a status', error({ status: 137 }), 'unknown: unmatched'],
    // errno and clients
    ...['ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'EHOSTUNREACH'].map(
      (code): [string, unknown, string] => [code, error({ code }), `transient: errno ${code}`],
    ),
    ['undici', error({ code: 'UND_ERR_CONNECT_TIMEOUT' }), 'transient: undici UND_ERR_CONNECT_TIMEOUT'],
    [
      'fetch',
      Object.assign(new TypeError('fetch failed'), { cause: error({ code: 'ECONNREFUSED' }) }),
      'transient: errno ECONNREFUSED',
    ],
    [
      'happy eyeballs',
      Object.assign(new AggregateError([error({ code: 'ECONNREFUSED' })])),
      'transient: errno ECONNREFUSED',
    ],
    ['an expired certificate', error({ code: 'CERT_HAS_EXPIRED' }), 'transient: node CERT_HAS_EXPIRED'],
    ['a missing file', error({ code: 'ENOENT' }), 'unknown: unmatched'],
    ['AbortError', new DOMException('aborted', 'AbortError'), 'transient: timeout AbortError'],
    ['TimeoutError', new DOMException('late', 'TimeoutError'), 'transient: timeout TimeoutError'],
    ['axios, cancelled', named('CanceledError', { code: 'ERR_CANCELED' }), 'transient: timeout ERR_CANCELED'],
    // SQLSTATE
    ...['08006', '28P01', '40001', '40P01', '53300', '55P03', '57P01', '57014'].map(
      (code): [string, unknown, string] => [`SQLSTATE ${code}`, error({ code }), `transient: sqlstate ${code}`],
    ),
    ...['22001', '22P02', '23502', '23514', '23000'].map((code): [string, unknown, string] => [
      `SQLSTATE ${code}`,
      error({ code, severity: 'ERROR' }),
      `poison: sqlstate ${code}`,
    ]),
    ['five digits of an API', error({ code: '22013' }), 'unknown: unmatched'],
    ['five digits of an API with a status', error({ code: '22013', status: 503 }), 'transient: http 503'],
    [
      'five digits that a wrapper copied',
      error({ code: '22001', cause: error({ code: '22001', routine: 'x' }) }),
      'poison: sqlstate 22001',
    ],
    ...['23503', '23505', '42P01', 'P0001', 'XX000', '25006'].map((code): [string, unknown, string] => [
      `SQLSTATE ${code}`,
      error({ code }),
      `unknown: sqlstate ${code}`,
    ]),
    ['a number of five digits (Twilio)', error({ code: 22001 }), 'unknown: unmatched'],
    ['five letters that are no SQLSTATE', error({ code: 'EBUSY' }), 'unknown: unmatched'],
    ['a code of the user', error({ code: '9ABCD' }), 'unknown: sqlstate 9ABCD'],
    ['lower case', error({ code: '22p02' }), 'unknown: unmatched'],
    // SQLite
    ['SQLite busy', error({ code: 'SQLITE_BUSY' }), 'transient: sqlite SQLITE_BUSY'],
    ['SQLite busy, extended', error({ code: 'SQLITE_BUSY_SNAPSHOT' }), 'transient: sqlite SQLITE_BUSY_SNAPSHOT'],
    ['SQLite disk full', error({ code: 'SQLITE_FULL' }), 'transient: sqlite SQLITE_FULL'],
    ['SQLite not null', error({ code: 'SQLITE_CONSTRAINT_NOTNULL' }), 'poison: sqlite SQLITE_CONSTRAINT_NOTNULL'],
    ['SQLite duplicate', error({ code: 'SQLITE_CONSTRAINT_UNIQUE' }), 'unknown: sqlite SQLITE_CONSTRAINT_UNIQUE'],
    [
      'SQLite foreign key',
      error({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' }),
      'unknown: sqlite SQLITE_CONSTRAINT_FOREIGNKEY',
    ],
    ['SQLite syntax', error({ code: 'SQLITE_ERROR' }), 'unknown: sqlite SQLITE_ERROR'],
    ['node:sqlite busy', error({ code: 'ERR_SQLITE_ERROR', errcode: 5 }), 'transient: sqlite SQLITE_BUSY'],
    ['node:sqlite busy, extended', error({ code: 'ERR_SQLITE_ERROR', errcode: 517 }), 'transient: sqlite SQLITE_BUSY'],
    ['node:sqlite check', error({ code: 'ERR_SQLITE_ERROR', errcode: 275 }), 'poison: sqlite SQLITE_CONSTRAINT_CHECK'],
    [
      'node:sqlite duplicate',
      error({ code: 'ERR_SQLITE_ERROR', errcode: 2067 }),
      'unknown: sqlite SQLITE_CONSTRAINT_UNIQUE',
    ],
    ['node:sqlite without a number', error({ code: 'ERR_SQLITE_ERROR' }), 'unknown: unmatched'],
    // AWS: 400 says nothing
    [
      'DynamoDB throttling',
      named('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
      'transient: aws ThrottlingException',
    ],
    [
      'SQS throttling',
      named('RequestThrottled', { $metadata: { httpStatusCode: 403 } }),
      'transient: aws RequestThrottled',
    ],
    ['SQS OverLimit', named('OverLimit', { $metadata: { httpStatusCode: 400 } }), 'transient: aws OverLimit'],
    ['SQS KmsThrottled', named('KmsThrottled', { $metadata: { httpStatusCode: 400 } }), 'transient: aws KmsThrottled'],
    [
      'a prefixed name',
      named('AWS.SimpleQueueService.OverLimit', { $metadata: { httpStatusCode: 400 } }),
      'transient: aws OverLimit',
    ],
    [
      'a name in code (SDK 2)',
      error({ code: 'ProvisionedThroughputExceededException', statusCode: 400 }),
      'transient: aws ProvisionedThroughputExceededException',
    ],
    ['no credentials', named('CredentialsProviderError'), 'transient: aws CredentialsProviderError'],
    [
      'wrong credentials',
      named('UnrecognizedClientException', { $metadata: { httpStatusCode: 400 } }),
      'transient: aws UnrecognizedClientException',
    ],
    [
      'bad input',
      named('ValidationException', { $metadata: { httpStatusCode: 400 } }),
      'poison: aws ValidationException',
    ],
    ['a ValidationError of anybody', named('ValidationError'), 'unknown: unmatched'],
    ['a ValidationError of AWS', named('ValidationError', { $fault: 'client' }), 'poison: aws ValidationError'],
    [
      'an absent table',
      named('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
      'unknown: aws ResourceNotFoundException',
    ],
    [
      'a lost race',
      named('ConditionalCheckFailedException', { $metadata: { httpStatusCode: 400 } }),
      'unknown: aws ConditionalCheckFailedException',
    ],
    ['AWS 500', named('InternalError', { $metadata: { httpStatusCode: 500 } }), 'transient: http 500'],
    ['AWS without a status', named('SomethingNew', { $metadata: {} }), 'unknown: unmatched'],
    // gRPC
    ['gRPC 14', error({ code: 14, details: 'no route', metadata: {} }), 'transient: grpc UNAVAILABLE'],
    ['gRPC 4', error({ code: 4, details: 'late' }), 'transient: grpc DEADLINE_EXCEEDED'],
    ['gRPC 8', error({ code: 8, metadata: {} }), 'transient: grpc RESOURCE_EXHAUSTED'],
    ['gRPC 16', error({ code: 16, metadata: {} }), 'transient: grpc UNAUTHENTICATED'],
    ['gRPC 3', error({ code: 3, details: 'bad' }), 'poison: grpc INVALID_ARGUMENT'],
    ['gRPC 5', error({ code: 5, details: 'none' }), 'unknown: grpc NOT_FOUND'],
    ['gRPC by name', error({ code: 'UNAVAILABLE', metadata: {} }), 'transient: grpc UNAVAILABLE'],
    ['gRPC by name, lower case', error({ code: 'invalid_argument', details: '' }), 'poison: grpc INVALID_ARGUMENT'],
    ['a small number of somebody else', error({ code: 3 }), 'unknown: unmatched'],
    ['a plain word of somebody else', error({ code: 'UNAVAILABLE' }), 'unknown: unmatched'],
    ['a number that gRPC does not know', error({ code: 99, details: 'x' }), 'unknown: unmatched'],
    // databases by name or by words
    ['MySQL deadlock', error({ code: 'ER_LOCK_DEADLOCK' }), 'transient: mysql ER_LOCK_DEADLOCK'],
    ['MySQL too long', error({ code: 'ER_DATA_TOO_LONG', errno: 1406 }), 'poison: mysql ER_DATA_TOO_LONG'],
    ['MySQL duplicate', error({ code: 'ER_DUP_ENTRY' }), 'unknown: unmatched'],
    ['Prisma pool', error({ code: 'P2024' }), 'transient: prisma P2024'],
    ['Prisma duplicate', error({ code: 'P2002' }), 'unknown: unmatched'],
    ['Sequelize', named('SequelizeDatabaseError', { original: error({ code: '40001' }) }), 'transient: sqlstate 40001'],
    ['Knex pool', named('KnexTimeoutError'), 'transient: knex KnexTimeoutError'],
    ['pg pool', new Error('timeout exceeded when trying to connect'), 'transient: pg pool timeout'],
    ['pg connection', new Error('Connection terminated unexpectedly'), 'transient: pg connection lost'],
    ['MongoDB network', named('MongoNetworkError'), 'transient: mongodb MongoNetworkError'],
    [
      'MongoDB label',
      named('MongoServerError', { errorLabels: ['RetryableWriteError'] }),
      'transient: mongodb RetryableWriteError',
    ],
    ['MongoDB duplicate', named('MongoServerError', { code: 11000 }), 'unknown: unmatched'],
    ['a label without MongoDB', error({ errorLabels: ['RetryableWriteError'] }), 'unknown: unmatched'],
    [
      'Redis loading',
      named('ReplyError', {}, 'LOADING Redis is loading the dataset in memory'),
      'transient: redis LOADING',
    ],
    ['Redis wrong type', named('ReplyError', {}, 'WRONGTYPE Operation against a key'), 'unknown: unmatched'],
    ['the word LOADING elsewhere', new Error('LOADING failed'), 'unknown: unmatched'],
    // nothing
    ['a bare SyntaxError', new SyntaxError('Unexpected token < in JSON at position 0'), 'unknown: SyntaxError'],
    ['a TypeError', new TypeError('x is not a function'), 'unknown: unmatched'],
    ['a text', 'ECONNRESET', 'unknown: unmatched'],
    ['undefined', undefined, 'unknown: unmatched'],
    [
      'a code named like a property of objects',
      error({ code: 'constructor', name: '__proto__' }),
      'unknown: unmatched',
    ],
  ])('says of %s', (_, thrown, expected) => {
    expect(said(thrown)).toBe(expected);
  });

  it.each<[string, unknown, string]>([
    ['the nearest of two', error({ status: 400, cause: error({ status: 503 }) }), 'poison: http 400'],
    [
      'the nearest of two, the other way round',
      error({ status: 503, cause: error({ status: 400 }) }),
      'transient: http 503',
    ],
    [
      'one that says unknown before one that says more',
      error({ status: 404, cause: error({ code: 'ECONNRESET' }) }),
      'unknown: http 404',
    ],
    [
      'the first below one that says nothing',
      error({ cause: error({ cause: error({ code: '57P01' }) }) }),
      'transient: sqlstate 57P01',
    ],
    ['the deepest that is looked at', nested(8, error({ status: 503 })), 'transient: http 503'],
    ['nothing deeper', nested(9, error({ status: 503 })), 'unknown: unmatched'],
    ['a cycle', cycle(error({ status: 503 })), 'transient: http 503'],
    [
      'the first error of an AggregateError that speaks',
      new AggregateError([new Error('x'), error({ status: 422 }), error({ status: 503 })]),
      'poison: http 422',
    ],
  ])('along the cause chain believes %s', (_, thrown, expected) => {
    expect(said(thrown)).toBe(expected);
  });
});

function nested(depth: number, innermost: Error): Error {
  return depth === 0 ? innermost : new Error('outer', { cause: nested(depth - 1, innermost) });
}

function cycle(link: Error): Error {
  const outer = new Error('outer', { cause: link });
  link.cause = outer;
  return outer;
}

describe('classify by what is said on purpose', () => {
  class CardDeclined extends Error {}
  class Throttled extends Error {}

  it.each<[string, unknown, string, string]>([
    ['Poison', new Poison('p'), 'poison: Poison', 'poison'],
    ['a subclass of Poison', new (class Empty extends Poison {})('p'), 'poison: Poison', 'poison'],
    ['DecodeError', new DecodeError('d'), 'poison: DecodeError', 'undecodable'],
    ['SchemaError', new SchemaError([]), 'poison: SchemaError', 'schema'],
    ['Transient', new Transient('t'), 'transient: Transient', 'exhausted'],
    ['a Poison that was wrapped', new Error('outer', { cause: new Poison('p') }), 'poison: Poison', 'poison'],
    ['a Poison below a status', error({ status: 503, cause: new Poison('p') }), 'poison: Poison', 'poison'],
    [
      'a Transient that wraps a 400',
      new Transient('t', { cause: error({ status: 400 }) }),
      'transient: Transient',
      'exhausted',
    ],
    ['a status', error({ status: 400 }), 'poison: http 400', 'poison'],
    ['nothing', new Error('e'), 'unknown: unmatched', 'exhausted'],
  ])('believes %s', (_, thrown, expected, reason) => {
    expect(said(thrown)).toBe(expected);
    expect(classified(thrown).reason).toBe(reason);
  });

  it('carries dependency and wait of a Transient', () => {
    const thrown = new Error('outer', { cause: new Transient('t', { retryAfter: '30s', dependency: 'payments' }) });
    expect(classified(thrown)).toMatchObject({ kind: 'transient', retryAfterMs: 30_000, dependency: 'payments' });
  });

  it('knows declared classes, before codes and after its own', () => {
    const rules = { poison: [CardDeclined], transient: [Throttled] };
    expect(said(error({ status: 503, cause: new CardDeclined() }), rules)).toBe('poison: declared CardDeclined');
    expect(said(Object.assign(new Throttled(), { status: 400 }), rules)).toBe('transient: declared Throttled');
    expect(said(new Throttled('t', { cause: new Poison('p') }), rules)).toBe('poison: Poison');
    expect(said(new Throttled('t', { cause: new CardDeclined() }), rules)).toBe('transient: declared Throttled');
    expect(said(new CardDeclined())).toBe('unknown: unmatched');
  });

  it.each<[string, unknown]>([
    ['no class', 'CardDeclined'],
    ['nothing', undefined],
    ['an arrow function', () => {}],
    [
      'a class that throws when asked',
      {
        [Symbol.hasInstance]: () => {
          throw new Error('no');
        },
      },
    ],
  ])('matches nothing with what is %s', (_, declared) => {
    expect(said(new Error('e'), { poison: [declared], transient: [declared] })).toBe('unknown: unmatched');
  });
});

describe("the user's classify", () => {
  it.each<[string, unknown, Partial<Failure>]>([
    ['a word', 'poison', { kind: 'poison', rule: 'user', reason: 'poison' }],
    ['another word', 'transient', { kind: 'transient', rule: 'user', reason: 'exhausted' }],
    ['unknown', 'unknown', { kind: 'unknown', rule: 'user' }],
    ['a kind', { kind: 'unknown' }, { kind: 'unknown', rule: 'user' }],
    ['a reason', { kind: 'poison', why: 'customer\nis gone' }, { kind: 'poison', rule: 'user: customer is gone' }],
    ['a wait', { kind: 'transient', retryAfterMs: 1500.2 }, { kind: 'transient', retryAfterMs: 1501 }],
    ['an endless wait', { kind: 'transient', retryAfterMs: Number.POSITIVE_INFINITY }, { retryAfterMs: 24 * HOUR_MS }],
    ['a dependency', { kind: 'transient', dependency: 'crm' }, { dependency: 'crm' }],
  ])('decides with %s', (_, answer, expected) => {
    expect(classified(new Poison('p'), { classify: () => answer })).toMatchObject(expected);
  });

  it.each<[string, object]>([
    ['a wait that is no number', { kind: 'transient', retryAfterMs: Number.NaN, dependency: '' }],
    ['fields of wrong types', { kind: 'transient', retryAfterMs: '5', dependency: 7, why: 7 }],
  ])('leaves out %s', (_, answer) => {
    const failure = classified(new Error('e'), { classify: () => answer });
    expect(Object.keys(failure)).toEqual(['kind', 'reason', 'rule', 'error']);
    expect(failure.rule).toBe('user');
  });

  it('is asked about the thrown value itself', () => {
    const thrown = Symbol('t');
    expect(said(thrown, { classify: (value) => (value === thrown ? 'poison' : undefined) })).toBe('poison: user');
  });

  it.each<[string, () => unknown, string]>([
    ['stays silent', () => undefined, 'poison: http 400'],
    [
      'throws',
      () => {
        throw new Error('a bug\nin it');
      },
      'poison: http 400 (classify threw a bug in it)',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      'poison: http 400 (classify threw undefined was thrown)',
    ],
    ['answers another word', () => 'retry', 'poison: http 400 (classify returned no verdict)'],
    ['answers true', () => true, 'poison: http 400 (classify returned no verdict)'],
    ['answers null', () => null, 'poison: http 400 (classify returned no verdict)'],
    ['answers another kind', () => ({ kind: 'maybe' }), 'poison: http 400 (classify returned no verdict)'],
    ['answers a promise', async () => 'poison', 'poison: http 400 (classify returned a promise)'],
  ])('leaves the error to the rules where it %s', (_, classifyIt, expected) => {
    expect(said(error({ status: 400 }), { classify: classifyIt })).toBe(expected);
  });

  it('does not let a rejected promise out', async () => {
    const rejections: unknown[] = [];
    const see = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', see);
    classified(new Error('e'), { classify: () => Promise.reject(new Error('late')) });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', see);
    expect(rejections).toEqual([]);
  });

  it.each(HOSTILE_VALUES)('may answer %s', (_, value) => {
    expect(() => classified(new Error('e'), { classify: () => value })).not.toThrow();
  });
});

describe('Retry-After', () => {
  const FUTURE = 'Sun, 01 Mar 2026 12:01:30 GMT';

  it.each<[string, object, number | undefined]>([
    ['seconds in headers', { headers: { 'retry-after': '120' } }, 120_000],
    ['seconds as a number', { headers: { 'retry-after': 2 } }, 2000],
    ['a fraction of seconds', { headers: { 'Retry-After': '0.5' } }, 500],
    ['the first of several', { headers: { 'retry-after': ['3', '9'] } }, 3000],
    ['a Headers instance', { headers: new Headers({ 'Retry-After': '5' }) }, 5000],
    ['a Map', { headers: new Map([['Retry-After', '6']]) }, 6000],
    [
      'axios',
      { response: { headers: Object.assign(Object.create({ get: () => null }), { 'retry-after': '7' }) } },
      7000,
    ],
    ['AWS', { $response: { headers: { 'retry-after': '8' } } }, 8000],
    ['milliseconds in a header', { headers: { 'retry-after-ms': '1500', 'retry-after': '9' } }, 1500],
    ['retryAfterMs', { retryAfterMs: 250 }, 250],
    ['retryAfter as text', { retryAfter: '4' }, 4000],
    ['retryAfter without a unit', { retryAfter: 4 }, undefined],
    ['retryAfterSeconds', { retryAfterSeconds: '11' }, 11_000],
    ['a date', { headers: { 'retry-after': FUTURE } }, 90_000],
    ['a date of RFC 850', { headers: { 'retry-after': 'Sunday, 01-Mar-26 12:01:30 GMT' } }, 90_000],
    ['a date of asctime', { headers: { 'retry-after': 'Sun Mar  1 12:01:30 2026' } }, 90_000],
    ['a date of RFC 850 that lies back', { headers: { 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT' } }, 0],
    ['a past date', { headers: { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' } }, 0],
    ['a far date', { headers: { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' } }, 24 * HOUR_MS],
    ['a negative number', { headers: { 'retry-after': '-5' } }, 0],
    ['a huge number', { headers: { 'retry-after': '999999999999999' } }, 24 * HOUR_MS],
    ['endless milliseconds', { retryAfterMs: Number.POSITIVE_INFINITY }, 24 * HOUR_MS],
    ['NaN', { retryAfterMs: Number.NaN }, undefined],
    ['a wrong month', { headers: { 'retry-after': 'Sun, 01 Foo 2026 12:01:30 GMT' } }, undefined],
    ['a date in another form', { headers: { 'retry-after': '2026-03-01T12:01:30Z' } }, undefined],
    ['words', { headers: { 'retry-after': 'soon' } }, undefined],
    ['more digits than a time has', { headers: { 'retry-after': '9'.repeat(100_000) } }, undefined],
    ['nothing', {}, undefined],
  ])('reads %s', (_, fields, expected) => {
    expect(classified(error({ ...fields, status: 503 })).retryAfterMs).toBe(expected);
  });

  it('counts a date from now', () => {
    const thrown = error({ status: 503, headers: { 'retry-after': FUTURE } });
    expect(classify(thrown, {}, NOW + 60_000).retryAfterMs).toBe(30_000);
  });

  it('is looked for along the cause chain, and kept for transient failures only', () => {
    const cause = error({ status: 429, headers: { 'retry-after': '3' } });
    expect(classified(new Error('outer', { cause })).retryAfterMs).toBe(3000);
    expect(classified(error({ status: 400, headers: { 'retry-after': '3' } })).retryAfterMs).toBeUndefined();
    expect(classified(error({ status: 404, headers: { 'retry-after': '3' } })).retryAfterMs).toBeUndefined();
    expect(classified(cause, { classify: () => 'transient' }).retryAfterMs).toBe(3000);
    expect(classified(cause, { classify: () => ({ kind: 'transient', retryAfterMs: 9 }) }).retryAfterMs).toBe(9);
  });
});

describe('classify is total', () => {
  it.each(HOSTILE_VALUES)('for %s', (_, value) => {
    const failure = classified(value);
    expect(['poison', 'transient', 'unknown']).toContain(failure.kind);
    expect(failure.rule).not.toBe('');
    expect(() =>
      classified(new Error('outer', { cause: value }), { poison: [TypeError], transient: [Error] }),
    ).not.toThrow();
    expect(() => classified(error({ headers: value, response: value, status: 503, retryAfter: value }))).not.toThrow();
  });

  it('for anything that can be built', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), fc.string(), (value, code) => {
        const failure = classified(error({ code, status: value, cause: value, details: value, headers: value }));
        return (
          failure.retryAfterMs === undefined || (failure.retryAfterMs >= 0 && failure.retryAfterMs <= 24 * HOUR_MS)
        );
      }),
    );
  });
});
