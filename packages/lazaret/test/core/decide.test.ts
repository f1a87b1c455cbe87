import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type Facts, precheck, type Sighting } from '../../src/core/decide.ts';
import { draw } from '../../src/core/draw.ts';
import type { Reason } from '../../src/core/evidence.ts';
import type { Decision, Failure, Outcome } from '../../src/core/outcome.ts';
import type { Policy } from '../../src/core/policy.ts';

const policy: Policy = {
  maxAttempts: 4,
  backoff: { kind: 'list', delaysMs: [2000, 8000, 30_000] },
  jitter: { kind: 'none' },
  aloneStrikes: 2,
  crashStrikes: 4,
};

const facts = (change: Partial<Facts> = {}): Facts => ({
  attempt: 1,
  charged: true,
  draw: () => 0,
  ...change,
});

const failure = (kind: Failure['kind'], change: Partial<Failure> = {}): Failure => ({
  kind,
  reason: 'poison',
  rule: 'a rule',
  error: { name: 'Error', message: 'no', causes: [] },
  ...change,
});
const failed = (kind: Failure['kind'], change?: Partial<Failure>): Outcome => ({
  kind: 'failed',
  failure: failure(kind, change),
});
const timeout: Outcome = { kind: 'timeout', failure: failure('unknown', { reason: 'exhausted' }) };
const retryIn: Outcome = { kind: 'retryIn', delayMs: 300_000, why: 'not yet' };

const retry = (delayMs: number): Decision => ({ verb: 'retry', delayMs });
const release = (delayMs: number): Decision => ({ verb: 'release', delayMs });
const quarantine = (reason: Reason): Decision => ({ verb: 'quarantine', reason });
const ACK: Decision = { verb: 'ack' };

describe('decide', () => {
  it.each<[what: string, outcome: Outcome, decision: Decision]>([
    ['done', { kind: 'done' }, ACK],
    ['skip', { kind: 'skip', why: 'a test order' }, ACK],
    ['quarantine', { kind: 'quarantine', why: 'ask a person' }, quarantine('manual')],
    ['refused as oversize', { kind: 'refused', reason: 'oversize', why: '' }, quarantine('oversize')],
    ['refused as crash', { kind: 'refused', reason: 'crash', why: '' }, quarantine('crash')],
    ['given back', { kind: 'givenBack', delayMs: 700, why: 'the key is busy' }, release(700)],
    ['given back at once', { kind: 'givenBack', delayMs: 0, why: 'shutdown' }, release(0)],
  ])('answers "%s" the same way at every attempt, charged or not', (_, outcome, decision) => {
    for (const attempt of [1, 3, 4, 5, 1e9, Number.NaN]) {
      for (const charged of [true, false])
        expect(decide(policy, outcome, facts({ attempt, charged }))).toEqual(decision);
    }
  });

  it.each<[attempt: number, charged: boolean, failed: Decision, timeout: Decision, retryIn: Decision]>([
    [1, true, retry(2000), retry(2000), retry(300_000)],
    [2, true, retry(8000), retry(8000), retry(300_000)],
    [3, true, retry(30_000), retry(30_000), retry(300_000)],
    [4, true, quarantine('exhausted'), quarantine('handler-timeout'), quarantine('exhausted')],
    [5, true, quarantine('exhausted'), quarantine('handler-timeout'), quarantine('exhausted')],
    [1e9, true, quarantine('exhausted'), quarantine('handler-timeout'), quarantine('exhausted')],
    [1, false, release(2000), release(2000), retry(300_000)],
    [3, false, release(30_000), release(30_000), retry(300_000)],
    [4, false, release(30_000), release(30_000), quarantine('exhausted')],
    [1e9, false, release(30_000), release(30_000), quarantine('exhausted')],
  ])('at attempt %d, charged: %s', (attempt, charged, ofFailure, ofTimeout, ofRetryIn) => {
    const known = facts({ attempt, charged });
    expect(decide(policy, failed('transient'), known)).toEqual(ofFailure);
    expect(decide(policy, failed('unknown'), known)).toEqual(ofFailure);
    expect(decide(policy, timeout, known)).toEqual(ofTimeout);
    expect(decide(policy, retryIn, known)).toEqual(ofRetryIn);
  });

  it.each<[Reason]>([['poison'], ['undecodable'], ['schema'], ['key-payload-mismatch']])(
    'quarantines poison as %s on the first attempt, charged or not',
    (reason) => {
      expect(decide(policy, failed('poison', { reason }), facts())).toEqual(quarantine(reason));
      expect(decide(policy, failed('poison', { reason }), facts({ charged: false, attempt: 3 }))).toEqual(
        quarantine(reason),
      );
    },
  );

  it.each([Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 60])(
    'takes the attempt %d, which cannot be one, for the last',
    (attempt) => {
      expect(decide(policy, failed('unknown'), facts({ attempt }))).toEqual(quarantine('exhausted'));
      expect(decide(policy, timeout, facts({ attempt }))).toEqual(quarantine('handler-timeout'));
      expect(decide(policy, retryIn, facts({ attempt }))).toEqual(quarantine('exhausted'));
      expect(decide(policy, failed('unknown'), facts({ attempt, charged: false }))).toEqual(release(30_000));
    },
  );

  it.each([
    [1000, 2000],
    [2000, 2000],
    [5000, 5000],
    [86_400_000, 86_400_000],
  ])('waits for the longer of Retry-After (%d ms) and backoff', (retryAfterMs, delayMs) => {
    const outcome = failed('transient', { retryAfterMs });
    expect(decide(policy, outcome, facts())).toEqual(retry(delayMs));
    expect(decide(policy, outcome, facts({ charged: false }))).toEqual(release(delayMs));
  });

  it('runs again at once where that is configured', () => {
    const atOnce: Policy = { ...policy, backoff: { kind: 'list', delaysMs: [0] } };
    expect(decide(atOnce, failed('unknown'), facts())).toEqual(retry(0));
  });

  it('lets Retry-After buy no further attempt', () => {
    expect(decide(policy, failed('transient', { retryAfterMs: 1000 }), facts({ attempt: 4 }))).toEqual(
      quarantine('exhausted'),
    );
  });

  it('allows as many runs as maxAttempts says', () => {
    for (const maxAttempts of [1, 2, 7]) {
      let runs = 1;
      while (decide({ ...policy, maxAttempts }, failed('unknown'), facts({ attempt: runs })).verb === 'retry') runs++;
      expect(runs).toBe(maxAttempts);
    }
  });

  it('spreads the wait with the draw of its attempt', () => {
    const spread: Policy = { ...policy, jitter: { kind: 'proportional', share: 0.2 } };
    const known = facts({ attempt: 2, draw: (n) => (n === 2 ? 0.999_999 : 0) });
    expect(decide(spread, failed('unknown'), known)).toEqual(retry(9600));
    expect(decide(spread, failed('unknown'), facts({ attempt: 2 }))).toEqual(retry(6400));
  });

  it('decides the same again from the same facts, and never waits for what is no time', () => {
    const outcomes = fc.constantFrom(
      failed('unknown'),
      failed('transient', { retryAfterMs: 60_000 }),
      timeout,
      retryIn,
    );
    const jitter = fc.constantFrom<Policy['jitter'][]>(
      { kind: 'none' },
      { kind: 'full' },
      { kind: 'decorrelated' },
      { kind: 'proportional', share: 0.2 },
    );
    const attempt = fc.oneof(fc.nat(10), fc.double(), fc.integer());
    fc.assert(
      fc.property(outcomes, jitter, attempt, fc.boolean(), fc.string(), (outcome, jitter, attempt, charged, id) => {
        const known = facts({ attempt, charged, draw: (n) => draw(id, n) });
        const decision = decide({ ...policy, jitter }, outcome, known);
        expect(decide({ ...policy, jitter }, outcome, known)).toEqual(decision);
        if ('delayMs' in decision) expect(Number.isSafeInteger(decision.delayMs) && decision.delayMs > 0).toBe(true);
      }),
    );
  });
});

describe('precheck', () => {
  const sighting = (change: Partial<Sighting>): Sighting => ({
    strikes: 0,
    bodyBytes: 100,
    maxBodyBytes: 100,
    blocked: false,
    ...change,
  });

  it.each<[what: string, seen: Partial<Sighting>, reason: Reason | undefined]>([
    ['nothing special', {}, undefined],
    ['three strikes', { strikes: 3 }, undefined],
    ['four strikes', { strikes: 4 }, 'crash'],
    ['more strikes', { strikes: 40 }, 'crash'],
    ['a body one byte too large', { bodyBytes: 101 }, 'oversize'],
    ['a blocked key', { blocked: true }, 'blocked-key'],
    ['an oversize body behind a blocked key', { bodyBytes: 101, blocked: true }, 'oversize'],
    ['everything at once', { strikes: 4, bodyBytes: 101, blocked: true }, 'crash'],
  ])('finds with %s: %s', (_, seen, reason) => {
    const outcome = precheck(policy, sighting(seen));
    expect(outcome === undefined ? undefined : outcome.kind === 'refused' && outcome.reason).toBe(reason);
  });

  it('convicts after two strikes where each message has a process of its own', () => {
    expect(precheck({ ...policy, crashStrikes: 2 }, sighting({ strikes: 2 }))).toMatchObject({ reason: 'crash' });
    expect(precheck({ ...policy, crashStrikes: 2 }, sighting({ strikes: 1 }))).toBeUndefined();
  });

  it('says why with the numbers', () => {
    expect(precheck(policy, sighting({ strikes: 4 }))).toMatchObject({ why: expect.stringContaining('4 starts') });
    expect(precheck(policy, sighting({ bodyBytes: 101 }))).toMatchObject({
      why: 'the body has 101 bytes, maxBody allows 100',
    });
  });
});
