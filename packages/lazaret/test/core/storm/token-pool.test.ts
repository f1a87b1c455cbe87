import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  burstOf,
  lendTokens,
  readTokenPool,
  TOKEN_SLICE_MS,
  type TokenPool,
  tokenPoolTtlMs,
  writeTokenPool,
} from '../../../src/core/storm/token-pool.ts';

const RATE = { count: 100, perMs: 1000 };
const START = 1_700_000_000_000;

/** Processes that ask once per slice, each at its own moment, and spend all that they get. */
function ask(pool: TokenPool | undefined, by: string, want: number, at: number, have = 0) {
  return lendTokens(pool, { by, want, have }, RATE, START + at);
}

describe('a pool of tokens', () => {
  it('lends a slice at once to the first, and then as fast as tokens come in', () => {
    const first = ask(undefined, 'a', 100, 0);
    expect(first.granted).toBe(25);
    const second = ask(first.pool, 'a', 100, 100);
    expect(second.granted).toBeCloseTo(10);
  });

  it('shares alike, however close behind the other one comes', () => {
    let { pool } = ask(undefined, 'a', 100, 0);
    const got = { a: 0, b: 0 };
    for (let slice = 1; slice <= 40; slice++) {
      for (const [by, after] of [
        ['a', 0],
        ['b', 10],
      ] as const) {
        const loan = ask(pool, by, 100, slice * TOKEN_SLICE_MS + after);
        pool = loan.pool;
        if (slice > 2) got[by] += loan.granted;
      }
    }
    expect(got.a + got.b).toBeCloseTo(38 * 25, 0);
    expect(Math.abs(got.a - got.b)).toBeLessThan(2);
  });

  it('gives a newcomer its share within a slice', () => {
    let { pool } = ask(undefined, 'a', 100, 0);
    for (const at of [250, 500, 750]) pool = ask(pool, 'a', 100, at).pool;
    pool = ask(pool, 'b', 100, 760).pool;
    pool = ask(pool, 'a', 100, 1000).pool;
    expect(ask(pool, 'b', 100, 1010).granted).toBeGreaterThanOrEqual(12);
  });

  it('lets one have what another leaves', () => {
    let { pool } = ask(undefined, 'a', 5, 0);
    let granted = 0;
    for (const at of [250, 500, 750]) {
      pool = ask(pool, 'a', 5, at).pool;
      ({ pool, granted } = ask(pool, 'b', 100, at + 10));
    }
    expect(granted).toBeCloseTo(20);
  });

  it('forgets one that is silent for a second: all is the other one’s', () => {
    let { pool } = ask(undefined, 'dead', 100, 0);
    pool = ask(pool, 'b', 100, 10).pool;
    let granted = 0;
    for (const at of [250, 500, 750, 1000, 1250]) ({ pool, granted } = ask(pool, 'b', 100, at));
    expect(granted).toBeCloseTo(25);
  });

  it('takes back what is more than wanted, and one that wants nothing out of the count', () => {
    const { pool } = ask(undefined, 'a', 100, 0);
    const left = ask(pool, 'a', 0, 0, 20);
    expect(left.granted).toBe(-20);
    expect(left.pool).toMatchObject({ tokens: 20, borrowers: [] });
  });

  it('counts a whole token together where a slice brings less than one', () => {
    const slow = { count: 1, perMs: 1000 };
    let loan = lendTokens(undefined, { by: 'a', want: 1, have: 0 }, slow, START);
    expect(loan.granted).toBe(1);
    let have = 0;
    for (let at = 250; at <= 1000; at += 250) {
      loan = lendTokens(loan.pool, { by: 'a', want: 1, have }, slow, START + at);
      have += loan.granted;
    }
    expect(have).toBeCloseTo(1);
  });

  it('brings nothing in for a clock that is behind, and starts anew behind one that was far ahead', () => {
    const ahead = ask(undefined, 'ahead', 100, 5_000);
    expect(ask(ahead.pool, 'behind', 100, 0).granted).toBe(0);
    const far = ask(undefined, 'far', 100, 60_000);
    const behind = ask(far.pool, 'behind', 100, 0);
    expect(behind.granted).toBe(0);
    expect(ask(behind.pool, 'behind', 100, 250).granted).toBeGreaterThan(10);
  });

  it('is remembered until it would be full again', () => {
    expect(tokenPoolTtlMs(RATE)).toBe(60_000);
    expect(tokenPoolTtlMs({ count: 1, perMs: 86_400_000 })).toBe(2 * 86_400_000);
  });

  it.each(['', 'null', '[]', '{"tokens":-1,"at":0}', '{"tokens":1e999,"at":0}', '{"tokens":1}', null])(
    'is none where %j is read',
    (text) => {
      expect(readTokenPool(text)).toBeUndefined();
    },
  );

  it('reads what it wrote, with any name', () => {
    const { pool } = ask(undefined, '__proto__', 100, 0);
    expect(readTokenPool(writeTokenPool(pool))).toEqual(pool);
  });

  it('never lends more than the burst and the rate, whoever asks, spends, hands back, dies, or is not heard', () => {
    const step = fc.record({
      who: fc.nat(4),
      afterMs: fc.nat(400),
      want: fc.nat(60),
      spend: fc.double({ min: 0, max: 1, noNaN: true }),
      fate: fc.constantFrom('lives', 'lives', 'lives', 'dies', 'unheard', 'skewed'),
    });
    const rates = fc.record({ count: fc.integer({ min: 1, max: 500 }), perMs: fc.constantFrom(1000, 60_000) });
    fc.assert(
      fc.property(rates, fc.array(step, { maxLength: 120 }), (rate, steps) => {
        let pool: TokenPool | undefined;
        let now = START;
        let spent = 0;
        const have = [0, 0, 0, 0, 0];
        for (const { who, afterMs, want, spend, fate } of steps) {
          now += afterMs;
          // A clock may be behind by up to a second; the bound holds all the same.
          const clock = fate === 'skewed' ? now - 900 : now;
          const loan = lendTokens(pool, { by: `p${who}`, want, have: have[who]! }, rate, clock);
          pool = readTokenPool(writeTokenPool(loan.pool));
          have[who]! += fate === 'unheard' ? Math.min(0, loan.granted) : loan.granted;
          expect(have[who]!).toBeGreaterThanOrEqual(-1e-9);
          if (fate === 'dies') have[who] = 0;
          const starts = have[who]! * spend;
          have[who]! -= starts;
          spent += starts;
          const bound = burstOf(rate) + ((now - START + 900) * rate.count) / rate.perMs;
          expect(spent).toBeLessThanOrEqual(bound + 1e-6);
        }
      }),
      { numRuns: 300 },
    );
  });
});
