import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTierOf, stayFor, tiersOf } from '../../src/drivers/rabbitmq/tiers.ts';

const SECOND = 1_000;
const tiers = tiersOf('orders', [24_000, 30_000, 36_000, 600_000]);

describe('the tiers of a queue', () => {
  it('are those that were asked for and one of 10 s, the shortest first', () => {
    expect(tiers.map(({ name }) => name)).toEqual([
      'orders.retry.10000',
      'orders.retry.24000',
      'orders.retry.30000',
      'orders.retry.36000',
      'orders.retry.600000',
    ]);
  });

  it('are named once, and never for what the server cannot wait', () => {
    expect(tiersOf('q', [10_000, 10_000, 0, -1, 2 ** 33]).map(({ delayMs }) => delayMs)).toEqual([10_000]);
  });

  it.each([
    ['orders', 'orders.retry.10000', true],
    ['orders', 'orders.retry.soon', false],
    ['orders', 'orders.dlq', false],
    ['orders', 'orders.retry.', false],
    ['order', 'orders.retry.10000', false],
  ])('of %s know their own: %s', (queue, name, expected) => {
    expect(isTierOf(queue, name)).toBe(expected);
  });
});

describe('a wait', () => {
  it.each<[what: string, delayMs: number, draw: number, tierMs: number | undefined, restMs: number]>([
    ['of nothing goes to the queue', 0, 0.5, undefined, 0],
    ['of a tier takes it', 30 * SECOND, 0.5, 30 * SECOND, 0],
    ['shorter than all takes the shortest', 2 * SECOND, 0.5, 10 * SECOND, 0],
    ['a little longer than a tier leaves the rest to be held', 33 * SECOND, 0.9, 30 * SECOND, 3 * SECOND],
    ['longer than all leaves the rest', 5_000 * SECOND, 0.5, 600 * SECOND, 4_400 * SECOND],
    ['between two far ones leaves the rest', 300 * SECOND, 0.99, 36 * SECOND, 264 * SECOND],
  ])('%s', (_, delayMs, draw, tierMs, restMs) => {
    const stay = stayFor(tiers, delayMs, draw);
    expect([stay.tier?.delayMs, stay.restMs]).toEqual([tierMs, restMs]);
  });

  it('between two close tiers takes either, in proportion', () => {
    const close = tiersOf('q', [480_000, 600_000, 720_000]);
    expect(stayFor(close, 510_000, 0.24).tier?.delayMs).toBe(600_000);
    expect(stayFor(close, 510_000, 0.26).tier?.delayMs).toBe(480_000);
  });

  it('is as long on average as it was asked to be', () => {
    const close = tiersOf('q', [480_000, 600_000, 720_000]);
    fc.assert(
      fc.property(fc.integer({ min: 480_000, max: 720_000 }), (delayMs) => {
        let sum = 0;
        for (let n = 0; n < 1_000; n++) {
          const { tier, restMs } = stayFor(close, delayMs, (n + 0.5) / 1_000);
          sum += tier!.delayMs + restMs;
        }
        expect(Math.abs(sum / 1_000 - delayMs)).toBeLessThanOrEqual(120);
      }),
    );
  });

  it('is never early but between close tiers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 90_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (delayMs, draw) => {
          const far = tiersOf('q', [60_000, 600_000, 6_000_000]);
          const { tier, restMs } = stayFor(far, delayMs, draw);
          expect(tier!.delayMs + restMs).toBeGreaterThanOrEqual(delayMs);
        },
      ),
    );
  });
});
