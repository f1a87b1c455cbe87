import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelay } from '../../src/core/backoff.ts';
import { draw } from '../../src/core/draw.ts';
import type { Decision } from '../../src/core/outcome.ts';
import { due, place, placeElsewhere, stagedAgain, type Terms } from '../../src/core/placement.ts';

const NOW = 1_700_000_000_000;
const FREE: Terms = {
  failures: 'journal',
  retryKeepsOrder: false,
  release: 'free',
  maxDelayMs: Number.POSITIVE_INFINITY,
  delayGrainMs: 1,
  ordering: 'none',
  leaseLeftMs: Number.POSITIVE_INFINITY,
  holdRoom: true,
  now: NOW,
  draw: 0.5,
};
/** The three families of brokers. */
const TABLE: Terms = { ...FREE, failures: 'row', retryKeepsOrder: true };
const CHANNEL: Terms = { ...FREE, failures: 'copy', release: 'counted', leaseLeftMs: 1_440_000 };
const LOG: Terms = { ...FREE, failures: 'copy', release: 'hold' };
const HIDING: Terms = { ...FREE, failures: 'journal', maxDelayMs: 43_200_000, delayGrainMs: 1000 };

const retry = (delayMs: number, notBefore?: number): Decision => ({
  verb: 'retry',
  delayMs,
  ...(notBefore && { notBefore }),
});
const release = (delayMs: number, notBefore?: number): Decision => ({
  verb: 'release',
  delayMs,
  ...(notBefore && { notBefore }),
});
const hold = (delayMs: number, charged: boolean): Decision => ({ verb: 'hold', delayMs, charged });

describe('place', () => {
  it.each<Decision>([
    { verb: 'ack' },
    { verb: 'quarantine', reason: 'exhausted' },
    { verb: 'hold', delayMs: 5, charged: true },
  ])('leaves as it is what is not given back: $verb', (decision) => {
    for (const terms of [TABLE, CHANNEL, LOG, HIDING]) expect(place(decision, terms)).toBe(decision);
  });

  it.each<[what: string, terms: Terms, delayMs: number, placed: Decision]>([
    ['a table takes it back', TABLE, 2000, retry(2000)],
    ['a table takes it back in order', { ...TABLE, ordering: 'key' }, 2000, retry(2000)],
    [
      'a table never holds, even where it would lose the order',
      { ...TABLE, retryKeepsOrder: false, ordering: 'key' },
      5,
      retry(5),
    ],
    ['a broker that hides does so', HIDING, 2000, retry(2000)],
    ['a dear copy is spared for 10 s', CHANNEL, 10_000, hold(10_000, true)],
    ['a dear copy is made beyond 10 s', CHANNEL, 10_001, retry(10_001)],
    ['a dear copy is made without room', { ...CHANNEL, holdRoom: false }, 2000, retry(2000)],
    ['a dear copy is made when the lease ends before', { ...CHANNEL, leaseLeftMs: 1999 }, 2000, retry(2000)],
    ['a dear copy is spared as long as the lease', { ...CHANNEL, leaseLeftMs: 2000 }, 2000, hold(2000, true)],
    ['order is held', { ...LOG, ordering: 'key' }, 2000, hold(2000, true)],
    ['order is held beyond 10 s', { ...LOG, ordering: 'key' }, 1_800_000, hold(1_800_000, true)],
    ['order is held without room', { ...LOG, ordering: 'key', holdRoom: false }, 2000, hold(2000, true)],
    ['order is held until the lease ends', { ...CHANNEL, ordering: 'key' }, 1_800_000, hold(1_440_000, true)],
    [
      'order goes back to where it was when no time is left',
      { ...CHANNEL, ordering: 'key', leaseLeftMs: -5 },
      2000,
      release(0),
    ],
    ['order is kept by the broker', { ...HIDING, ordering: 'key', retryKeepsOrder: true }, 2000, retry(2000)],
    ['order that nobody asked for is not held', { ...CHANNEL, retryKeepsOrder: false }, 30_000, retry(30_000)],
  ])('carries out a retry: %s', (_, terms, delayMs, placed) => {
    expect(place(retry(delayMs), terms)).toEqual(placed);
  });

  it.each<[what: string, terms: Terms, delayMs: number, placed: Decision]>([
    ['a table takes it back', TABLE, 2000, release(2000)],
    ['a free one is given back', HIDING, 2000, release(2000)],
    ['a counted one is held', CHANNEL, 10_000, hold(10_000, false)],
    ['a counted one goes back beyond 10 s', CHANNEL, 10_001, release(10_001)],
    ['a counted one goes back without room', { ...CHANNEL, holdRoom: false }, 2000, release(2000)],
    ['a counted one goes back when the lease ends before', { ...CHANNEL, leaseLeftMs: 1999 }, 2000, release(2000)],
    ['one that has to be held is held', LOG, 2000, hold(2000, false)],
    ['one that has to be held is copied beyond 10 s', LOG, 60_000, release(60_000)],
    ['order is held, uncharged', { ...LOG, ordering: 'key' }, 60_000, hold(60_000, false)],
    ['order is held also where giving back is free', { ...FREE, ordering: 'key' }, 60_000, hold(60_000, false)],
    ['a table never holds', { ...TABLE, release: 'counted' }, 2000, release(2000)],
  ])('carries out a release: %s', (_, terms, delayMs, placed) => {
    expect(place(release(delayMs), terms)).toEqual(placed);
  });

  it.each<[what: string, terms: Partial<Terms>, delayMs: number, placed: Decision]>([
    ['up to the limit at once', { maxDelayMs: 900_000 }, 900_000, retry(900_000)],
    ['beyond it in stages', { maxDelayMs: 900_000 }, 900_001, retry(900_000, NOW + 900_001)],
    ['30 days', { maxDelayMs: 43_200_000 }, 2_592_000_000, retry(43_200_000, NOW + 2_592_000_000)],
    ['short of the time until which it can be hidden', { delayCapAt: NOW + 5000 }, 4500, retry(4500)],
    ['beyond that, a stage that is on its way in time', { delayCapAt: NOW + 5000 }, 6000, retry(4500, NOW + 6000)],
    ['no more than 5 s short of it', { delayCapAt: NOW + 500_000 }, 600_000, retry(495_000, NOW + 600_000)],
    ['the nearer of both limits', { delayCapAt: NOW + 5000, maxDelayMs: 4000 }, 6000, retry(4000, NOW + 6000)],
    ['a limit inside a grain', { delayCapAt: NOW + 5999, delayGrainMs: 1000 }, 5500, retry(5000, NOW + 5500)],
    ['less than a grain', { delayCapAt: NOW + 999, delayGrainMs: 1000 }, 5500, retry(0, NOW + 5500)],
    ['a time that is over', { delayCapAt: NOW - 5000 }, 6000, retry(0, NOW + 6000)],
    ['a broker that cannot wait', { maxDelayMs: 0 }, 6000, retry(0, NOW + 6000)],
    ['no wait at all', { maxDelayMs: 0 }, 0, retry(0)],
  ])('stages what the broker cannot wait: %s', (_, terms, delayMs, placed) => {
    expect(place(retry(delayMs), { ...FREE, ...terms })).toEqual(placed);
    expect(place(release(delayMs), { ...FREE, ...terms })).toEqual({ ...placed, verb: 'release' });
  });

  it.each<[delayMs: number, draw: number, placedMs: number]>([
    [2300, 0.29, 3000],
    [2300, 0.31, 2000],
    [2000, 0, 2000],
    [2000, 0.999, 2000],
    [300, 0.29, 1000],
    [300, 0.99, 1000],
    [1, 0.99, 1000],
    [0, 0, 0],
  ])('rounds %d ms to a grain of a second, with the draw %d', (delayMs, draw, placedMs) => {
    expect(place(retry(delayMs), { ...HIDING, draw })).toEqual(retry(placedMs));
    expect(place(release(delayMs), { ...HIDING, draw })).toEqual(release(placedMs));
  });

  it('rounds to whole grains, less than one away, at least one, and never past the limit', () => {
    const grain = fc.integer({ min: 1, max: 60_000 });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.nat(10_000_000),
        grain,
        chance,
        fc.integer({ min: 60_000, max: 20_000_000 }),
        (delayMs, delayGrainMs, draw, maxDelayMs) => {
          const placed = place(retry(delayMs), { ...FREE, delayGrainMs, draw, maxDelayMs });
          if (placed.verb !== 'retry') throw new Error(placed.verb);
          expect(placed.delayMs % delayGrainMs).toBe(0);
          expect(placed.delayMs).toBeLessThanOrEqual(maxDelayMs);
          if (delayMs > 0) expect(placed.delayMs).toBeGreaterThanOrEqual(delayGrainMs);
          if (placed.notBefore === undefined) expect(Math.abs(placed.delayMs - delayMs)).toBeLessThan(delayGrainMs);
          else expect(placed.notBefore).toBe(NOW + delayMs);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('keeps waits as long on average, and spread, on a broker of whole seconds', () => {
    const backoff = { kind: 'list', delaysMs: [2000] } as const;
    const counts = new Map<number, number>();
    let sum = 0;
    for (let at = 0; at < 10_000; at++) {
      const delayMs = backoffDelay(backoff, { kind: 'proportional', share: 0.2 }, 1, (n) => draw(`evt-${at}`, n));
      const placed = place(retry(delayMs), { ...HIDING, draw: draw(`evt-${at}`, -1) });
      if (placed.verb !== 'retry') throw new Error(placed.verb);
      sum += placed.delayMs;
      counts.set(placed.delayMs, (counts.get(placed.delayMs) ?? 0) + 1);
    }
    expect(sum / 10_000).toBeCloseTo(2000, -2);
    expect([...counts.keys()].sort()).toEqual([1000, 2000, 3000]);
  });

  it('keeps the spread of waits beyond the limit in their due time: no second holds over 2 % at attempt 12', () => {
    const backoff = { kind: 'exponential', baseMs: 1000, factor: 2, capMs: 3_600_000 } as const;
    const seconds = new Map<number, number>();
    for (let at = 0; at < 10_000; at++) {
      const delayMs = backoffDelay(backoff, { kind: 'proportional', share: 0.2 }, 12, (n) => draw(`evt-${at}`, n));
      const placed = place(retry(delayMs), { ...HIDING, maxDelayMs: 900_000 });
      if (placed.verb !== 'retry' || placed.notBefore === undefined) throw new Error('not staged');
      const second = Math.floor(placed.notBefore / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    expect(Math.max(...seconds.values()) / 10_000).toBeLessThan(0.02);
  });
});

describe('due', () => {
  it.each([undefined, NOW, NOW - 1, 0, Number.NaN])('is due: %s', (notBefore) => {
    for (const terms of [TABLE, CHANNEL, LOG, HIDING]) expect(due(notBefore, terms)).toBeUndefined();
  });

  it.each<[what: string, terms: Terms, restMs: number, decision: Decision]>([
    ['a short rest is waited for here', HIDING, 10_000, hold(10_000, false)],
    ['a longer rest is given back', HIDING, 11_000, release(11_000)],
    ['a rest beyond the limit is staged again', HIDING, 50_000_000, release(43_200_000, NOW + 50_000_000)],
    ['without room it is given back', { ...HIDING, holdRoom: false }, 2000, release(2000)],
    ['beyond the lease it is given back', { ...CHANNEL, leaseLeftMs: 1000 }, 2000, release(2000)],
    ['a table takes it back', TABLE, 2000, release(2000)],
    ['order is held', { ...LOG, ordering: 'key' }, 60_000, hold(60_000, false)],
    ['order is held until the lease ends', { ...CHANNEL, ordering: 'key' }, 3_600_000, hold(1_440_000, false)],
    ['the broker keeps the order', { ...HIDING, ordering: 'key', retryKeepsOrder: true }, 60_000, release(60_000)],
  ])('is not due: %s', (_, terms, restMs, decision) => {
    expect(due(NOW + restMs, terms)).toEqual(decision);
  });

  it('brings a staged wait to its due time, not earlier and without end', () => {
    const waits = fc.integer({ min: 1, max: 300_000_000 });
    const family = fc.constantFrom(HIDING, { ...CHANNEL, maxDelayMs: 600_000 }, { ...TABLE, maxDelayMs: 600_000 });
    fc.assert(
      fc.property(waits, family, fc.boolean(), (delayMs, terms, holdRoom) => {
        let now = NOW;
        let hops = 0;
        let decision: Decision | undefined = place(retry(delayMs), { ...terms, holdRoom });
        let notBefore = 'notBefore' in decision ? decision.notBefore : undefined;
        while (decision !== undefined && 'delayMs' in decision) {
          expect(++hops).toBeLessThan(1000);
          now += decision.delayMs;
          decision = due(notBefore, { ...terms, holdRoom, now });
          if (decision !== undefined && 'notBefore' in decision) notBefore = decision.notBefore;
        }
        expect(now).toBeGreaterThan(NOW + delayMs - terms.delayGrainMs);
        expect(now).toBeLessThan(NOW + delayMs + 2 * terms.delayGrainMs);
      }),
    );
  });
});

describe('placeElsewhere', () => {
  const strict: Terms = { ...LOG, ordering: 'key' };

  it.each<[what: string, terms: Terms, decision: Decision, placed: Decision]>([
    ['what is done is done', LOG, { verb: 'ack' }, { verb: 'ack' }],
    ['a retry is not kept here', CHANNEL, retry(2000), retry(2000)],
    ['a release is not kept here', CHANNEL, release(2000), release(2000)],
    ['a long wait is staged', HIDING, release(50_000_000), release(43_200_000, NOW + 50_000_000)],
    ['where a wait elsewhere would break the order there is none', strict, release(2000), release(0)],
    ['and no charge', strict, retry(2000), release(0)],
    ['a table keeps order and charge', { ...TABLE, ordering: 'key' }, retry(2000), retry(2000)],
  ])('%s', (_what, terms, decision, placed) => {
    expect(placeElsewhere(decision, terms)).toEqual(placed);
  });
});

describe('stagedAgain', () => {
  const terms = { maxDelayMs: 900_000, delayGrainMs: 1, now: NOW };

  it.each([
    ['what still can be done stays', { delayMs: 4000 }, NOW + 5000, { delayMs: 4000 }],
    ['a shorter stage', { delayMs: 4000 }, NOW + 2000, { delayMs: 1800, notBefore: NOW + 4000 }],
    [
      'a stage of a longer wait keeps its end',
      { delayMs: 4000, notBefore: NOW + 9000 },
      NOW + 2000,
      { delayMs: 1800, notBefore: NOW + 9000 },
    ],
    ['nothing is left', { delayMs: 4000 }, NOW - 1, { delayMs: 0, notBefore: NOW + 4000 }],
  ])('says a wait again: %s', (_, wait, delayCapAt, again) => {
    expect(stagedAgain(wait, { ...terms, delayCapAt })).toEqual(again);
  });

  it('touches nothing else of a settlement', () => {
    const settlement = { verb: 'retry', delivery: 'd', delayMs: 4000 };
    expect(stagedAgain(settlement, { ...terms, delayCapAt: NOW + 1000 })).toMatchObject({
      verb: 'retry',
      delivery: 'd',
    });
  });
});
