import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { asError } from '../../src/runtime/as-error.ts';

it('keeps an error as it is', () => {
  const error = new RangeError('no');
  expect(asError(error)).toBe(error);
});

it.each<[string, unknown, object]>([
  [
    'an object with code and message',
    { code: 'NOAUTH', message: 'bad password' },
    { code: 'NOAUTH', message: /bad password/ },
  ],
  [
    'an error of another realm',
    runInNewContext("new TypeError('x is not a function')"),
    { message: /TypeError: x is not a function/ },
  ],
  ['text', 'no connection', { message: /no connection/ }],
])('says what is known of %s, and keeps it as the cause', (_, thrown, { message, ...rest }: { message?: RegExp }) => {
  const error = asError(thrown);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ ...rest, cause: thrown });
  expect(error.message).toMatch(message!);
});
