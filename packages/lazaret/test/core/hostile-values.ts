import { runInNewContext } from 'node:vm';

function bomb(): never {
  throw new Error('this getter must not get out');
}

const everythingThrows = new Proxy(
  {},
  { get: bomb, has: bomb, ownKeys: bomb, getPrototypeOf: bomb, getOwnPropertyDescriptor: bomb, set: bomb },
);

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function getterBomb(): object {
  const keys = ['name', 'message', 'stack', 'code', 'status', 'statusCode', 'response', 'cause', 'errors', 'headers'];
  return Object.defineProperties(
    {},
    Object.fromEntries(
      [...keys, 'constructor', 'retryAfterMs', '$metadata', 'metadata'].map((key) => [key, { get: bomb }]),
    ),
  );
}

class NamelessClass extends Error {
  static override get name(): string {
    return bomb();
  }
}

function cyclic(): Error {
  const first = new Error('first');
  const second = new Error('second', { cause: first });
  first.cause = second;
  return first;
}

function chainOf(length: number): Error {
  let error = new Error('innermost');
  for (let depth = 0; depth < length; depth++) error = new Error(`link ${depth}`, { cause: error });
  return error;
}

let asked = 0;

/** What handlers throw when they mean harm, or are merely careless. Used by every test of what must be total. */
export const HOSTILE_VALUES: readonly (readonly [what: string, value: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['an empty text', ''],
  ['a text', 'no stock'],
  ['a text with half of a pair', 'broken \ud83d here'],
  ['a text with control characters', 'a\u0000b\u001b[31mc\r\nd'],
  ['a number', 42],
  ['NaN', Number.NaN],
  ['a bigint', 12345678901234567890n],
  ['a huge bigint', 2n ** 4_000_000n],
  ['a boolean', false],
  ['a symbol', Symbol('why')],
  ['a symbol without a description', Symbol()],
  ['a function', function handle() {}],
  ['a function whose name throws', Object.defineProperty(() => {}, 'name', { get: bomb })],
  ['a plain object', { message: 'plain', code: 'E_PLAIN', status: '503' }],
  ['an object without anything', {}],
  ['an object without a prototype', Object.assign(Object.create(null), { message: 'bare' })],
  ['a frozen error', Object.freeze(new Error('frozen'))],
  ['an array', ['first', new Error('second')]],
  ['a cyclic chain', cyclic()],
  [
    'an object that is its own cause',
    Object.assign(new Error('mine'), {
      get cause() {
        return this;
      },
    }),
  ],
  ['a chain of 10,000', chainOf(10_000)],
  [
    'an AggregateError of 10,000',
    new AggregateError(
      Array.from({ length: 10_000 }, (_, n) => new Error(`${n}`)),
      'all',
    ),
  ],
  ['a revoked proxy', revoked({})],
  ['a revoked proxy of an array', revoked([])],
  ['a revoked proxy of a function', revoked(() => {})],
  ['an error whose cause is revoked', new Error('outer', { cause: revoked({}) })],
  ['a proxy whose traps throw', everythingThrows],
  ['an error whose cause throws when asked', new Error('outer', { cause: everythingThrows })],
  ['getters that throw', getterBomb()],
  ['a class whose name throws', new NamelessClass('nameless')],
  ['toString and toJSON that throw', { toString: bomb, toJSON: bomb, [Symbol.toPrimitive]: bomb }],
  ['an error with a symbol as message', Object.assign(new Error(), { message: Symbol('m') })],
  ['an error with an object as code', Object.assign(new Error('c'), { code: { toString: bomb } })],
  [
    'an array whose length is a symbol',
    new Proxy([], { get: (_, key) => (key === 'length' ? Symbol('l') : undefined) }),
  ],
  ['an array whose length is endless', new Proxy([], { get: (_, key) => (key === 'length' ? Infinity : undefined) })],
  [
    'an object that answers something else each time',
    {
      get message() {
        return `asked ${asked++} times`;
      },
    },
  ],
  ['headers that throw', { status: 503, headers: { get: bomb } }],
  ['headers that are revoked', { status: 503, response: { headers: revoked({}) } }],
  ['an error of another realm', runInNewContext('new TypeError("elsewhere", { cause: new RangeError("below") })')],
  ['a DOMException', new DOMException('gone', 'AbortError')],
  ['a prototype name', { name: '__proto__', message: '__proto__', code: 'constructor' }],
  ['an object that only looks like a promise', Object.create(Promise.prototype)],
  ['a stack that is no text', Object.assign(new Error('s'), { stack: [{}] })],
  ['a message of 10 MB', new Error('x'.repeat(10_000_000))],
  [
    'a stack of 10 MB',
    Object.assign(new Error('s'), { stack: `Error: s\n${'    at f (/app/x.js:1:1)\n'.repeat(400_000)}` }),
  ],
];
