import { DecodeError, Poison, SchemaError, Transient } from '../../../../dist/core/failures.js';

function withFields(error, fields) {
  return Object.assign(error, fields);
}

function withoutPrototype() {
  return Object.assign(Object.create(null), { message: 'no prototype' });
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function chainOf(length) {
  let error = withFields(new Error('the root'), { code: 'ECONNRESET' });
  for (let at = 0; at < length; at++) error = new Error(`wrap ${at}`, { cause: error });
  return error;
}

function cyclic() {
  const error = new Error('round');
  error.cause = error;
  return error;
}

class CardDeclined extends Poison {}
class OutOfStock extends Error {}

/** What handlers throw, by name; made anew each time. */
export const THROWN = {
  'a bare error': () => new Error('boom'),
  'an error of an own class': () => new OutOfStock('none left'),
  'a TypeError': () => new TypeError('x is not a function'),
  'a SyntaxError': () => new SyntaxError('Unexpected token <'),
  Poison: () => new Poison('customer is empty'),
  'Poison without words': () => new Poison(),
  'a class of Poison': () => new CardDeclined('do not honour'),
  'Poison as a cause': () => new Error('handler failed', { cause: new Poison('customer is empty') }),
  DecodeError: () => new DecodeError('Unexpected end of JSON input at position 17'),
  SchemaError: () => new SchemaError([{ message: 'not a number', path: ['lines', 2, 'sku'] }]),
  Transient: () => new Transient('the bank sleeps'),
  'Transient with a wait': () => new Transient('later', { retryAfter: '30s', dependency: 'bank' }),
  'Transient with a wait from outside': () => new Transient('later', { retryAfterMs: 1e12 }),
  'Poison over Transient': () => new Poison('no', { cause: new Transient('yes') }),
  'Transient over Poison': () => new Transient('yes', { cause: new Poison('no') }),
  'status 400': () => withFields(new Error('bad request'), { status: 400 }),
  'status 404': () => withFields(new Error('not found'), { statusCode: 404 }),
  'status 503 of a response': () => withFields(new Error('Request failed'), { response: { status: 503, headers: {} } }),
  'status 429 with Retry-After': () =>
    withFields(new Error('slow down'), { response: { status: 429, headers: new Map([['retry-after', '7']]) } }),
  'Retry-After as a name': () => withFields(new Error('slow'), { status: 429, headers: { 'Retry-After': '120' } }),
  'an AWS error': () =>
    withFields(new Error('no such table'), { name: 'ResourceNotFoundException', $metadata: { httpStatusCode: 400 } }),
  'an AWS throttle': () =>
    withFields(new Error('rate'), { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }),
  'errno ECONNREFUSED': () => withFields(new Error('connect'), { code: 'ECONNREFUSED', errno: -111 }),
  'errno as a cause': () =>
    new TypeError('fetch failed', { cause: withFields(new Error('read'), { code: 'ECONNRESET' }) }),
  'a cause under another name': () =>
    withFields(new Error('query failed'), { driverError: withFields(new Error('dup'), { code: '23505' }) }),
  'sqlstate 40001': () => withFields(new Error('could not serialize access'), { code: '40001' }),
  'sqlstate 22001': () => withFields(new Error('value too long'), { code: '22001' }),
  'a number that looks like a sqlstate': () => withFields(new Error('vendor code'), { code: 40001 }),
  'a code that is no number': () => withFields(new Error('odd'), { code: Number.NaN, errcode: Number.NaN }),
  'sqlite busy': () => withFields(new Error('database is locked'), { code: 'SQLITE_BUSY' }),
  'node:sqlite': () => withFields(new Error('constraint failed'), { code: 'ERR_SQLITE_ERROR', errcode: 1299 }),
  'gRPC by metadata': () =>
    withFields(new Error('14 UNAVAILABLE'), { code: 14, details: 'no connection', metadata: {} }),
  'a small number without metadata': () => withFields(new Error('14'), { code: 14 }),
  'a MongoDB label': () =>
    withFields(new Error('aborted'), { name: 'MongoServerError', errorLabels: ['x', 'TransientTransactionError'] }),
  'a Redis reply': () => withFields(new Error('LOADING Redis is loading'), { name: 'ReplyError' }),
  'a word only': () => new Error('socket hang up'),
  'an AbortError': () => new DOMException('This operation was aborted', 'AbortError'),
  'an AggregateError': () =>
    new AggregateError(
      ['text', new Error('first'), withFields(new Error('second'), { code: 'ETIMEDOUT' })],
      'all failed',
    ),
  'a thrown array': () => [new Error('first'), new Poison('second')],
  'a long chain of causes': () => chainOf(5),
  'a longer chain than is looked at': () => chainOf(50),
  'an error that causes itself': cyclic,
  'a plain object': () => ({ error: 'says what is wrong', status: 422 }),
  'an object without prototype': withoutPrototype,
  'a revoked proxy': revoked,
  'an object whose getters throw': () => ({
    get message() {
      throw new Error('no');
    },
  }),
  'a long message': () => new Error('x'.repeat(100_000)),
  'a message that is no text': () => new Error('half a pair: \ud800'),
  text: () => 'boom',
  'text that names a client': () => 'socket hang up',
  'a long text': () => '\u0001'.repeat(100_000),
  'a number': () => -0.5,
  NaN: () => Number.NaN,
  'a boolean': () => false,
  'a bigint': () => -12345678901234567890n,
  'a huge bigint': () => 10n ** 50n,
  'a symbol': () => Symbol('why'),
  'a symbol without words': () => Symbol(),
  'a function': () => function late() {},
  'a class instead of an instance': () => Poison,
  undefined: () => undefined,
  null: () => null,
};

export default (message) => {
  throw THROWN[message.text()]();
};
