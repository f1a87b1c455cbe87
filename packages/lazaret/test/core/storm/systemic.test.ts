import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { Systemic } from '../../../src/core/storm/systemic.ts';

const NUMBERS = STORM.systemic;
const MINUTE = 60_000;
const systemic = (change: Partial<typeof NUMBERS> = {}) => new Systemic({ ...NUMBERS, ...change }, 0);

function succeed(made: Systemic, count: number, now = 0): void {
  for (let i = 0; i < count; i++) made.succeeded(now);
}

/** As many messages as `count`, of their own, fail with an unknown error. Answers how many of them are charged. */
function fail(made: Systemic, count: number, now = 0, fingerprint = 'v1:a', name = 'm'): number {
  let charged = 0;
  for (let i = 0; i < count; i++) if (made.unknown(fingerprint, `${name}${i}`, now).systemicAt === undefined) charged++;
  return charged;
}

describe('the systemic rule', () => {
  it('refunds from the twentieth message on that fails in the same way', () => {
    expect(fail(systemic(), 50)).toBe(19);
  });

  it('looks at messages, not at failures', () => {
    const made = systemic();
    for (let i = 0; i < 1000; i++) expect(made.unknown('v1:a', 'the same', 0).systemicAt).toBeUndefined();
    expect(fail(made, 30)).toBe(18);

    const busy = systemic();
    succeed(busy, 19);
    for (let i = 0; i < 1000; i++) expect(busy.unknown('v1:a', 'the same', 0).systemicAt).toBeUndefined();
  });

  it.each([
    ['half of them', 10, 10, true],
    ['fewer than half', 11, 10, false],
    ['half of many', 40, 40, true],
  ])('takes %s for systemic or not', (_, successes, failures, is) => {
    const made = systemic();
    succeed(made, successes);
    expect(fail(made, failures) < failures).toBe(is);
  });

  it('counts messages that fail in other ways among all', () => {
    const made = systemic();
    for (let i = 0; i < 20; i++) made.failed(`poison ${i}`, 0);
    for (let i = 0; i < 20; i++) made.failed(`poison ${i}`, 0);
    expect(fail(made, 20)).toBe(19);
  });

  it('tells fingerprints apart', () => {
    const made = systemic();
    for (let i = 0; i < 60; i++) expect(made.unknown(`v1:${i % 3}`, `m${i}`, 0).systemicAt).toBeUndefined();
  });

  it('sees what begins to go wrong on a queue that went well for hours', () => {
    const made = systemic();
    for (let second = 0; second < 3600; second++) succeed(made, 100, second * 1000);
    expect(fail(made, 200, 3_600_000)).toBeLessThanOrEqual(60);
  });

  it('sees it on a slow queue too', () => {
    const made = systemic();
    let charged = 0;
    for (let i = 0; i < 30; i++) charged += fail(made, 1, i * 10_000, 'v1:a', `slow ${i} `);
    expect(charged).toBe(19);
  });

  it('takes nothing for systemic in fewer messages than its minimum, however slowly they come', () => {
    const made = systemic();
    for (let i = 0; i < 100; i++) expect(fail(made, 1, i * 30_000, 'v1:a', `rare ${i} `)).toBe(1);
  });

  it('tells once that it is systemic, and why', () => {
    const made = systemic();
    fail(made, 19);
    expect(made.unknown('v1:a', 'one more', 7)).toEqual({
      change: 'systemic',
      systemicAt: 7,
      flood: true,
      why: '20 of the last 20 messages failed with v1:a',
    });
    expect(made.unknown('v1:a', 'and another', 8)).toMatchObject({ change: undefined, systemicAt: 7 });
  });

  it.each([
    [2, true],
    [3, false],
  ])('calls it a flood at nine tenths: %d successes beside 18 failures', (successes, flood) => {
    const made = systemic();
    succeed(made, successes);
    fail(made, 17);
    expect(made.unknown('v1:a', 'last', 0).flood).toBe(flood);
  });

  it('goes on while messages are slowed', () => {
    const made = systemic();
    fail(made, 25);
    // The same, each two minutes later: never as many at once as made it trip.
    for (let round = 1; round < 30; round++) {
      for (let i = 0; i < 25; i++) {
        expect(made.unknown('v1:a', `m${i}`, round * 2 * MINUTE + i * 4000).systemicAt).toBeDefined();
      }
    }
  });

  it('ends when its share has been clear for five minutes', () => {
    const made = systemic();
    fail(made, 25);
    for (let minute = 1; minute < 5; minute++) succeed(made, 100, minute * MINUTE);
    expect(made.settle(5 * MINUTE - 1)).toEqual([]);
    expect(made.settle(5 * MINUTE)).toEqual(['v1:a']);
    expect(fail(made, 1, 5 * MINUTE)).toBe(1);
  });

  it('does not go on for a last message alone', () => {
    const made = systemic();
    fail(made, 25);
    let charged = 0;
    for (let minute = 1; minute <= 20; minute++) charged += fail(made, 1, minute * MINUTE, 'v1:a', 'last ');
    expect(charged).toBeGreaterThan(0);
  });

  it('is reset by hand, and counts anew', () => {
    const made = systemic();
    fail(made, 25);
    expect([made.reset('v1:a'), made.reset('v1:a'), made.reset('v1:b')]).toEqual([true, false, false]);
    expect(made.tripped()).toEqual([]);
  });

  it('keeps what is systemic when it begins to count anew', () => {
    const made = systemic();
    fail(made, 25);
    made.forget();
    expect(made.tripped()).toHaveLength(1);
    expect(made.unknown('v1:b', 'm0', 0).why).toBe('1 of the last 1 messages failed with v1:b');
  });

  it('forgets, and goes on, wherever time jumps', () => {
    const made = systemic();
    fail(made, 19, 1_000_000);
    expect(fail(made, 5, 0, 'v1:a', 'later ')).toBe(0);
    expect(made.settle(50 * MINUTE)).toEqual(['v1:a']);
  });

  it.each<[name: string, change: Partial<typeof NUMBERS>, charged: number]>([
    ['as they are', {}, 17],
    ['another minimum', { least: 30 }, 27],
    ['another share', { share: 0.96 }, 47],
    ['never', { least: Number.POSITIVE_INFINITY }, 60],
  ])('obeys its numbers: %s', (_, change, charged) => {
    const made = systemic(change);
    succeed(made, 2);
    expect(fail(made, 60)).toBe(charged);
  });

  it('obeys its other numbers', () => {
    const after = (change: Partial<typeof NUMBERS>, act: (made: Systemic) => unknown) => {
      const made = systemic(change);
      fail(made, 25);
      return act(made);
    };
    const settled = (made: Systemic) => made.settle(6 * MINUTE).length;
    expect([after({}, settled), after({ clearMs: 7 * MINUTE }, settled)]).toEqual([1, 0]);
    expect([after({}, settled), after({ windowMs: 60 * MINUTE }, settled)]).toEqual([1, 0]);
    const flooded = (made: Systemic) => {
      succeed(made, 5);
      return made.unknown('v1:a', 'm0', 0).flood;
    };
    expect([after({}, flooded), after({ pauseShare: 0.8 }, flooded)]).toEqual([false, true]);
    const among = (made: Systemic) => {
      succeed(made, 70);
      return made.unknown('v1:b', 'other', 0).why;
    };
    expect([after({}, among), after({ messages: 20 }, among)]).toEqual([
      '1 of the last 96 messages failed with v1:b',
      '1 of the last 20 messages failed with v1:b',
    ]);
    const stays = (made: Systemic) => {
      for (let minute = 1; minute <= 10; minute++) fail(made, 2, minute * MINUTE, 'v1:a', `${minute} `);
      return made.tripped().length;
    };
    expect([after({}, stays), after({ leastToStay: 15 }, stays)]).toEqual([1, 0]);
    const twice = (made: Systemic) => {
      for (let i = 0; i < 25; i++) made.failed(`m${i}`, 0);
      return made.unknown('v1:b', 'other', 0).why;
    };
    expect(after({}, twice)).toBe('1 of the last 26 messages failed with v1:b');
    expect(after({ remembered: 1 }, twice)).not.toBe(after({}, twice));
    const apart = (made: Systemic) => made.unknown('v1:b', 'other', 0).why === '';
    expect([after({}, apart), after({ fingerprints: 1 }, apart)]).toEqual([false, true]);
  });

  it('never trips below its minimums', () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(20_000), message: fc.nat(60), ok: fc.boolean() }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const made = systemic();
        let now = 0;
        let successes = 0;
        const failing = new Set<number>();
        for (const { afterMs, message, ok } of all) {
          now += afterMs;
          if (ok) {
            successes++;
            made.succeeded(now);
            continue;
          }
          failing.add(message);
          const { change } = made.unknown('v1:a', `m${message}`, now);
          if (change === 'systemic') expect(failing.size + successes).toBeGreaterThanOrEqual(NUMBERS.least);
          if (change === 'systemic') expect(failing.size).toBeGreaterThanOrEqual(NUMBERS.least * NUMBERS.share);
        }
      }),
      { numRuns: 500 },
    );
  });
});
