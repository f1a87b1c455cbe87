import { describe, expect, it } from 'vitest';
import { headerText } from '../../src/core/message.ts';
import { Arrival, toDelivery } from '../../src/drivers/rabbitmq/arrival.ts';
import { arrived } from '../../src/drivers/rabbitmq/arrived.ts';
import type { OpenChannel } from '../../src/drivers/rabbitmq/channel.ts';
import type { Parcel } from '../../src/drivers/rabbitmq/outlet.ts';
import { type Places, type Replaced, replacementFor, suspectFor } from '../../src/drivers/rabbitmq/replacement.ts';
import { tiersOf } from '../../src/drivers/rabbitmq/tiers.ts';
import { field, int64, properties, short, text } from './rabbitmq/tables.ts';

const NOW = 1_800_000_000_000;
const SECOND = 1_000;
const SYSTEM = { now: () => NOW, random: () => 0.5, id: () => 'fresh' };
const PLACES: Places = {
  queue: 'orders',
  letters: 'orders.dlq',
  lane: 'orders.alone',
  tiers: tiersOf('orders', [30 * SECOND]),
};
const CHANNEL = { isOpen: true } as OpenChannel;

function arrivalOf(raw: Buffer, { isAlone = false, redelivered = false } = {}): Arrival {
  const fields = { deliveryTag: 1, redelivered, exchange: '', routingKey: 'orders' };
  return new Arrival(CHANNEL, { fields, properties: { raw }, content: Buffer.from('body') }, isAlone, 0);
}

function deliveryOf(arrival: Arrival) {
  return toDelivery(arrival, { source: { queue: 'orders' }, maxAttempts: 4, consumerTimeoutMs: 60_000 }, NOW, 10_000);
}

function written({ routingKey, properties: raw, body }: Parcel) {
  const { message } = arrived('orders', raw, body);
  const said = (name: string) => headerText(message.headers, name);
  return {
    to: routingKey.toString('utf8', 1),
    id: message.id,
    attempt: said('lazaret-attempt'),
    notBefore: said('lazaret-not-before'),
  };
}

const plain = properties([field('lazaret-attempt', 'S', text('2'))], { messageId: short('evt-1') });

describe('what is sent in the place of a delivery', () => {
  type Verb = Replaced extends infer R ? (R extends { delivery: unknown } ? Omit<R, 'delivery'> : never) : never;
  it.each<[what: string, isAlone: boolean, verb: Verb, to: string, attempt: string, notBefore: number | undefined]>([
    ['a retry at once', false, { verb: 'retry', delayMs: 0 }, 'orders', '3', undefined],
    ['a retry', false, { verb: 'retry', delayMs: 30 * SECOND }, 'orders.retry.30000', '3', undefined],
    [
      'a retry that leaves a rest',
      false,
      { verb: 'retry', delayMs: 32 * SECOND },
      'orders.retry.30000',
      '3',
      NOW + 32_000,
    ],
    [
      'a stage',
      false,
      { verb: 'retry', delayMs: 30 * SECOND, notBefore: NOW + 1e9 },
      'orders.retry.30000',
      '3',
      NOW + 1e9,
    ],
    [
      'a stage that leaves a rest',
      false,
      { verb: 'retry', delayMs: 40 * SECOND, notBefore: NOW + 9 },
      'orders.retry.30000',
      '3',
      NOW + 40_000,
    ],
    ['a release', false, { verb: 'release', delayMs: 10 * SECOND }, 'orders.retry.10000', '2', undefined],
    ['a suspect that was not tried', true, { verb: 'release', delayMs: 0 }, 'orders.alone', '2', undefined],
    [
      'a suspect that was tried, and may not count',
      true,
      { verb: 'release', delayMs: 10 * SECOND },
      'orders.retry.10000',
      '2',
      undefined,
    ],
    ['a suspect that failed', true, { verb: 'retry', delayMs: 0 }, 'orders', '3', undefined],
  ])('goes for %s to its place', (_, isAlone, verb, to, attempt, notBefore) => {
    const arrival = arrivalOf(plain, { isAlone });
    const parcel = replacementFor(arrival, { delivery: deliveryOf(arrival), ...verb } as Replaced, PLACES, SYSTEM);
    expect(written(parcel)).toEqual({ to, id: 'evt-1', attempt, notBefore: notBefore && String(notBefore) });
  });

  it('has an id where its message had none', () => {
    const arrival = arrivalOf(properties([]));
    const parcel = replacementFor(
      arrival,
      { delivery: deliveryOf(arrival), verb: 'retry', delayMs: 0 },
      PLACES,
      SYSTEM,
    );
    expect(written(parcel).id).toBe('fresh');
  });

  it('is for a suspect what it was, due time and all', () => {
    const arrival = arrivalOf(properties([field('lazaret-not-before', 'S', text(String(NOW + 5)))]));
    expect(written(suspectFor(arrival, deliveryOf(arrival), PLACES, SYSTEM))).toEqual({
      to: 'orders.alone',
      id: 'fresh',
      attempt: '1',
      notBefore: String(NOW + 5),
    });
  });
});

describe('a delivery', () => {
  it('has what is left of the patience of the server', () => {
    expect(deliveryOf(arrivalOf(plain)).leaseMs).toBe(50_000);
  });

  it('has the strikes of the lane, and the count of the broker', () => {
    const raw = properties([field('x-delivery-count', 'l', int64(1n))]);
    const { strikes, deliveries } = deliveryOf(arrivalOf(raw, { isAlone: true, redelivered: true }));
    expect([strikes, deliveries]).toEqual([3, 2]);
  });

  it('was first seen when it was sent, where nobody says otherwise, and never later than now', () => {
    const at = (seconds: bigint) => deliveryOf(arrivalOf(properties([], { timestamp: int64(seconds) }))).firstSeenAt;
    expect([at(1_700_000_000n), at(9_999_999_999n)]).toEqual([1_700_000_000_000, NOW]);
    expect(deliveryOf(arrivalOf(properties([]))).firstSeenAt).toBe(NOW);
  });
});
