import { describe, expect, it } from 'vitest';
import { deathsOf } from '../../src/drivers/rabbitmq/deaths.ts';
import { isSuspect, returnsOf, strikesInLane } from '../../src/drivers/rabbitmq/returns.ts';
import { habitsOf } from '../../src/drivers/rabbitmq/versions.ts';
import { readTable } from '../../src/drivers/rabbitmq/wire/table.ts';
import { array, death, field, int64, text } from './rabbitmq/tables.ts';

const fieldsOf = (...entries: readonly Buffer[]) => readTable(Buffer.concat(entries)).fields;
const failed = (n: bigint) => field('x-delivery-count', 'l', int64(n));
const sent = (n: bigint) => field('x-acquired-count', 'l', int64(n));

describe('what the broker counted', () => {
  it.each<
    [
      what: string,
      redelivered: boolean,
      entries: Buffer[],
      failed: number | undefined,
      sent: number | undefined,
      suspect: boolean,
    ]
  >([
    ['a first delivery', false, [], 0, 0, false],
    ['a first delivery of 3.10', false, [failed(0n)], 0, 0, false],
    ['a forged count of a first delivery', false, [failed(55n)], 0, 0, false],
    ['one that came back once', true, [failed(1n)], 1, 1, false],
    ['one that came back twice', true, [failed(2n)], 2, 2, true],
    ['one that was given back twice to 4.3', true, [failed(0n), sent(2n)], 0, 2, false],
    ['one that 4.3 has counted only as sent', true, [sent(3n)], 0, 3, false],
    ['one that crashed twice on 4.3', true, [failed(2n), sent(5n)], 2, 5, true],
    ['a count in few bytes', true, [field('x-delivery-count', 'b', Buffer.of(3))], 3, 3, true],
    ['a classic queue, which does not count', true, [], undefined, undefined, true],
    ['a count that is text', true, [field('x-delivery-count', 'S', text('9'))], undefined, undefined, true],
    ['a count below nothing', true, [failed(-4n)], undefined, undefined, true],
  ])('is read of %s', (_, redelivered, entries, failed, sent, suspect) => {
    const returns = returnsOf(redelivered, fieldsOf(...entries));
    expect(returns).toEqual({ failed, sent });
    expect(isSuspect(returns)).toBe(suspect);
  });

  it('makes two strikes of the way into the lane, and one of each start there', () => {
    expect([0, 1, 2].map((n) => strikesInLane({ failed: n, sent: n }))).toEqual([2, 3, 4]);
    expect(strikesInLane({ failed: undefined, sent: undefined })).toBe(2);
  });
});

describe('the version of a server', () => {
  it.each<[unknown, boolean]>([
    ['3.10.8', false],
    ['4.0.5', false],
    ['4.2.99', false],
    ['4.3.0', true],
    ['4.3.6+dfsg', true],
    ['4.10.0', true],
    ['5.0.0', true],
    [Buffer.from('4.3.1'), true],
    ['', false],
    [undefined, false],
    [{ toString: () => '9.9' }, false],
  ])('says whether giving back is free: %s', (version, expected) => {
    expect(habitsOf({ version }).requeueIsFree).toBe(expected);
  });
});

describe('deaths that the broker wrote', () => {
  it('are read, the newest first', () => {
    const entry = field(
      'x-death',
      'A',
      array(death('orders.retry.10000', 'expired', 3n), death('orders', 'delivery_limit')),
    );
    expect(deathsOf(fieldsOf(entry))).toEqual([
      {
        queue: 'orders.retry.10000',
        reason: 'expired',
        count: 3,
        firstAt: 1_700_000_000_000,
        exchange: '',
        routingKeys: ['orders.retry.10000'],
      },
      {
        queue: 'orders',
        reason: 'delivery_limit',
        count: 1,
        firstAt: 1_700_000_000_000,
        exchange: '',
        routingKeys: ['orders'],
      },
    ]);
  });

  it.each([
    ['text', field('x-death', 'S', text('zzz'))],
    ['a list of texts, over which 3.10 stumbles', field('x-death', 'A', array(['S', text('zzz')]))],
    ['a table without a queue', field('x-death', 'A', array(['F', Buffer.from([0, 0, 0, 0])]))],
    ['nothing', field('other', 'S', text('x'))],
  ])('are none in %s', (_, entry) => {
    expect(deathsOf(fieldsOf(entry))).toEqual([]);
  });
});
