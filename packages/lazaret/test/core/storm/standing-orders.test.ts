import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commandsBetween,
  lifted,
  ordered,
  readOrders,
  type StandingOrder,
  slotOf,
  type Want,
  writeOrders,
} from '../../../src/core/storm/standing-orders.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const WANTS: readonly Want[] = [
  { set: 'paused' },
  { set: 'breaker', to: 'open', dependency: 'payments' },
  { set: 'breaker', to: 'closed' },
  { set: 'limit', limit: 2 },
  { set: 'rate', rate: { count: 10, perMs: 1000 } },
  { set: 'forgiven', fingerprint: 'v1:a' },
  { set: 'resumed' },
];

function order(want: Want, change: Partial<StandingOrder> = {}): StandingOrder {
  return { want, at: NOW, untilAt: NOW + HOUR, why: 'deploy', by: 'mira', ...change };
}

describe('standing orders', () => {
  it('take the place of an order of the same slot, and stand beside others', () => {
    let orders: readonly StandingOrder[] = [];
    for (const want of WANTS) orders = ordered(orders, order(want), NOW);
    // A resumption takes the place of the pause.
    expect(new Set(orders.map(({ want }) => want))).toEqual(new Set(WANTS.slice(1)));
    expect(lifted(orders, slotOf({ set: 'breaker', to: 'half-open', dependency: 'payments' }), NOW)).toHaveLength(5);
  });

  it('are forgotten when they are over, and the first to end makes way for too many', () => {
    const many = Array.from({ length: 70 }, (_, i) =>
      order({ set: 'breaker', to: 'open', dependency: `d${i}` }, { untilAt: NOW + HOUR + i }),
    );
    const all = many.reduce<readonly StandingOrder[]>((orders, one) => ordered(orders, one, NOW), []);
    expect(all).toHaveLength(64);
    expect(all.every(({ untilAt }) => untilAt >= NOW + HOUR + 6)).toBe(true);
    expect(ordered(all, order({ set: 'paused' }), NOW + 2 * HOUR)).toHaveLength(1);
  });

  it.each<
    [what: string, before: readonly StandingOrder[], after: readonly StandingOrder[], commands: readonly object[]]
  >([
    ['a new one', [], [order({ set: 'paused' })], [{ set: 'paused', forMs: HOUR, why: 'deploy (mira)' }]],
    ['the same again', [order({ set: 'paused' })], [order({ set: 'paused' })], []],
    [
      'longer',
      [order({ set: 'paused' })],
      [order({ set: 'paused' }, { untilAt: NOW + 2 * HOUR })],
      [{ forMs: 2 * HOUR }],
    ],
    ['one that was lifted', [order({ set: 'limit', limit: 2 })], [], [{ set: 'limit', limit: 2, forMs: 0 }]],
    ['one that ended by itself', [order({ set: 'paused' }, { untilAt: NOW })], [], []],
    ['one that is over already', [], [order({ set: 'paused' }, { untilAt: NOW })], []],
    ['a resumption', [order({ set: 'paused' })], [order({ set: 'resumed' })], [{ set: 'paused', forMs: 0 }]],
    ['a resumption that ends', [order({ set: 'resumed' })], [], []],
    [
      'a forgiven fingerprint',
      [],
      [order({ set: 'forgiven', fingerprint: 'v1:a' })],
      [{ set: 'forgiven', fingerprint: 'v1:a' }],
    ],
  ])('tell a gate %s', (_, before, after, commands) => {
    expect(commandsBetween(before, after, NOW)).toMatchObject(commands);
    expect(commandsBetween(before, after, NOW)).toHaveLength(commands.length);
  });

  it('are read as they were written', () => {
    const orders = WANTS.map((want) => order(want));
    expect(readOrders(writeOrders(orders))).toEqual(orders);
    expect(writeOrders([])).toBeNull();
    expect(readOrders(null)).toEqual([]);
  });

  it.each([
    ['no JSON', '{'],
    ['no list', '{"want":{"set":"paused"}}'],
    ['no order', '[1, null, {}, {"want":{"set":"drop"},"at":1,"untilAt":2}]'],
    ['no end', '[{"want":{"set":"paused"},"at":1}]'],
    ['an end that is too far', `[{"want":{"set":"paused"},"at":1,"untilAt":${8 * 24 * HOUR}}]`],
    ['a breaker of no state', '[{"want":{"set":"breaker","to":"ajar"},"at":1,"untilAt":2}]'],
    ['no limit', '[{"want":{"set":"limit","limit":0},"at":1,"untilAt":2}]'],
    ['no rate', '[{"want":{"set":"rate","rate":{"count":0,"perMs":1000}},"at":1,"untilAt":2}]'],
    ['no fingerprint', '[{"want":{"set":"forgiven"},"at":1,"untilAt":2}]'],
  ])('are not read from %s', (_, text) => {
    expect(readOrders(text)).toEqual([]);
  });

  it('never throw, whatever is read', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void readOrders(JSON.stringify(value))));
  });
});
