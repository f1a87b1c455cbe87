import { describe, expect, it } from 'vitest';
import {
  DecodeError,
  isDecodeError,
  isPoison,
  isSchemaError,
  isTransient,
  Poison,
  SchemaError,
  Transient,
} from '../../src/core/failures.ts';
import { jsonPath } from '../../src/core/json-path.ts';
import { HOSTILE_VALUES } from './hostile-values.ts';

const GUARDS = { isPoison, isDecodeError, isSchemaError, isTransient };

/** What another installed copy of the package would throw. */
function foreign(brand: string): object {
  return Object.create({}, { [Symbol.for('lazaret.failure')]: { value: brand } });
}

describe('failures', () => {
  it.each([
    ['Poison', new Poison('p'), ['isPoison']],
    ['DecodeError', new DecodeError('d'), ['isPoison', 'isDecodeError']],
    ['SchemaError', new SchemaError([]), ['isPoison', 'isSchemaError']],
    ['Transient', new Transient('t'), ['isTransient']],
    ['Error', new Error('e'), []],
    ['a foreign Poison', foreign('poison'), ['isPoison']],
    ['a foreign Transient', foreign('transient'), ['isTransient']],
    ['a foreign DecodeError', foreign('decode'), ['isPoison', 'isDecodeError']],
    ['a foreign unknown', foreign('something else'), []],
  ])('recognises %s by its brand', (_, value, expected) => {
    expect(
      Object.entries(GUARDS)
        .filter(([, guard]) => guard(value))
        .map(([name]) => name),
    ).toEqual(expected);
  });

  it.each(HOSTILE_VALUES)('never throws when asked about %s', (_, value) => {
    expect(Object.values(GUARDS).map((guard) => guard(value))).toEqual([false, false, false, false]);
  });

  it('names itself, and a subclass by its class', () => {
    class CardDeclined extends Poison {}
    class RateLimited extends Transient {}
    expect([new Poison(), new DecodeError('d'), new SchemaError([]), new Transient()].map(({ name }) => name)).toEqual([
      'Poison',
      'DecodeError',
      'SchemaError',
      'Transient',
    ]);
    expect([new CardDeclined().name, new RateLimited().name]).toEqual(['CardDeclined', 'RateLimited']);
    expect([isPoison(new CardDeclined()), isTransient(new RateLimited())]).toEqual([true, true]);
  });

  it('keeps the cause', () => {
    const cause = new Error('below');
    const all = [
      new Poison('p', { cause }),
      new DecodeError('d', { cause }),
      new SchemaError([], { cause }),
      new Transient('t', { cause }),
    ];
    expect(all.map((error) => error.cause)).toEqual([cause, cause, cause, cause]);
  });

  it('does not show its brand when it is printed', () => {
    expect(Object.getOwnPropertySymbols(new Poison('p'))).toEqual([]);
  });
});

describe('Transient', () => {
  it.each([
    ['nothing said', {}, undefined],
    ['milliseconds', { retryAfterMs: 1500 }, 1500],
    ['a duration', { retryAfter: '30s' }, 30_000],
    ['both', { retryAfter: '2m', retryAfterMs: 5 }, 120_000],
  ])('takes how long to wait: %s', (_, options, expected) => {
    expect(new Transient('t', options).retryAfterMs).toBe(expected);
  });

  it('refuses a duration that cannot be read', () => {
    expect(() => new Transient('t', { retryAfter: 'soon' })).toThrow(expect.objectContaining({ code: 'LZ1043' }));
    expect(() => new Transient('t', { retryAfter: '30' })).toThrow(expect.objectContaining({ code: 'LZ1042' }));
  });

  it('names the dependency', () => {
    expect(new Transient('t', { dependency: 'payments' }).dependency).toBe('payments');
  });
});

describe('DecodeError', () => {
  it.each([
    ['as said', { position: 17 }, 17],
    ['as the JSON error says', { cause: new SyntaxError('Unexpected token } in JSON at position 41') }, 41],
    ['as said, whatever the cause says', { position: 3, cause: new SyntaxError('at position 41') }, 3],
    ['unknown', { cause: new SyntaxError('Unexpected end of JSON input') }, undefined],
    ['unknown with a strange cause', { cause: { message: Symbol('m') } }, undefined],
  ])('carries the position %s', (_, options, expected) => {
    expect(new DecodeError('d', options).position).toBe(expected);
  });

  it('reads the position of what JSON.parse throws', () => {
    let cause: unknown;
    try {
      JSON.parse('{"a": 1,}');
    } catch (thrown) {
      cause = thrown;
    }
    expect(new DecodeError('d', { cause }).position).toBe(8);
  });
});

describe('SchemaError', () => {
  it('says the first issue and how many more there are', () => {
    const error = new SchemaError([
      { message: 'Required', path: ['customer', { key: 'lines' }, 2, 'odd name'] },
      { message: 'too long' },
    ]);
    expect(error.message).toBe(
      'body does not fit its schema at $.customer.lines[2]["odd name"]: Required (and 1 more)',
    );
    expect(error.issues).toEqual([
      { path: '$.customer.lines[2]["odd name"]', message: 'Required' },
      { path: '$', message: 'too long' },
    ]);
  });

  it('says so without any issue', () => {
    expect(new SchemaError([]).message).toBe('body does not fit its schema');
  });

  it('is bounded, whatever the validator answers', () => {
    const path = Array.from({ length: 1000 }, () => 'k'.repeat(1000));
    const error = new SchemaError(Array.from({ length: 1000 }, () => ({ message: 'm\n'.repeat(10_000), path })));
    expect(error.issues).toHaveLength(20);
    expect(JSON.stringify(error.issues).length).toBeLessThan(120_000);
    expect(error.message.length).toBeLessThan(6000);
    expect(error.message).not.toContain('\n');
  });
});

describe('jsonPath', () => {
  it.each([
    [undefined, '$'],
    [[], '$'],
    [['a', 0, 'b'], '$.a[0].b'],
    [['$ref', '_x1'], '$.$ref._x1'],
    [['a.b', 'c"d', ''], '$["a.b"]["c\\"d"][""]'],
    [['__proto__'], '$.__proto__'],
    [[Symbol('s')], '$["Symbol(s)"]'],
    [[{ key: 'lines' }, { key: 3 }], '$.lines[3]'],
  ])('writes %j as %s', (segments, expected) => {
    expect(jsonPath(segments)).toBe(expected);
  });
});
