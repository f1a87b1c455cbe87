import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../../src/core/fingerprint.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { Gate, type GateOptions, type Passage } from '../../../src/core/storm/gate.ts';
import type { Mechanism, StormOverrides } from '../../../src/core/storm/numbers.ts';
import { DONE, failed, LEFT, passage, timedOut } from './outcomes.ts';

const OPTIONS: GateOptions = { concurrency: 50, timeoutMs: 900_000, maxAttempts: 4 };
const MIDDLE = 0.5;
const MINUTE = 60_000;
const gate = (change: Partial<GateOptions> = {}) => new Gate({ ...OPTIONS, ...change }, 0);
const printOf = (outcome: Outcome) =>
  'failure' in outcome ? fingerprint({ error: outcome.failure.error, reason: outcome.failure.reason }) : '';

const REFUSED = failed('transient', 'ECONNREFUSED');
const BUG = failed('unknown', 'TypeError');
const POISON = failed('poison', 'SyntaxError');

/** Starts and ends at once. */
function run(made: Gate, outcome: Outcome, now: number, change: Partial<Passage> & { id?: string } = {}) {
  const { id = `m${now}`, ...rest } = change;
  const entered = passage(id, rest);
  expect(made.enter(entered, now)).toBe(0);
  return made.outcome(entered, outcome, now, MIDDLE);
}

function runMany(made: Gate, outcome: Outcome, count: number, now: number, change: Partial<Passage> = {}) {
  return Array.from({ length: count }, (_, i) => run(made, outcome, now, { ...change, id: `${now} ${i}` }));
}

/** Runs that were started together end together: so a breaker opens under those that follow. */
function endTogether(made: Gate, outcome: Outcome, count: number, now: number, change: Partial<Passage> = {}) {
  const all = Array.from({ length: count }, (_, i) => passage(`${now} ${i}`, change));
  for (const one of all) expect(made.enter(one, now)).toBe(0);
  return all.map((one) => made.outcome(one, outcome, now, MIDDLE));
}

const whats = (made: Gate) =>
  made.changes().map((change) => ('state' in change ? `breaker ${change.state}` : change.what));

describe('admission', () => {
  it.each([
    ['what is wanted', 5, 0, 5],
    ['no more than the limit lets run', 100, 0, 20],
    ['what is left beside those that wait', 100, 15, 5],
    ['nothing beside enough that wait', 100, 20, 0],
    ['nothing to who wants nothing', 0, 0, 0],
    ['nothing to who wants less than nothing', -1, 0, 0],
  ])('grants %s', (_, want, waiting, admitted) => {
    expect(gate().admit(want, waiting, 0)).toBe(admitted);
  });

  it('counts those that run', () => {
    const made = gate();
    const running = Array.from({ length: 12 }, (_, i) => passage(`m${i}`));
    for (const one of running) made.enter(one, 0);
    expect(made.admit(100, 0, 0)).toBe(8);
    for (const one of running) made.outcome(one, LEFT, 0, MIDDLE);
    expect(made.admit(100, 0, 0)).toBe(20);
    expect(made.view(0).inFlight).toBe(0);
  });

  it('takes tokens, and gives them back where a pull brought fewer', () => {
    const made = gate({ rate: { count: 40, perMs: 1000 } });
    expect([made.admit(20, 0, 0), made.admit(20, 0, 0)]).toEqual([10, 0]);
    expect(made.nextAt(0, 0)).toBe(25);
    made.handBack(4);
    expect(made.admit(20, 0, 0)).toBe(4);
    expect(made.admit(20, 0, 100)).toBe(4);
  });

  it('waits for an outcome where the limit is reached', () => {
    const made = gate();
    for (let i = 0; i < 20; i++) made.enter(passage(`m${i}`), 0);
    expect(made.admit(1, 0, 0)).toBe(0);
    expect(made.nextAt(0, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(made.nextAt(20, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('stops with the breaker, lets one probe through, and says when to ask again', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    expect(made.admit(10, 0, 4999)).toBe(0);
    expect(made.nextAt(0, 4999)).toBe(5000);
    expect(made.admit(10, 0, 5000)).toBe(1);
    // Two pulls may have been under way: the door is at the start.
    expect(made.enter(passage('a'), 5000)).toBe(0);
    expect(made.enter(passage('b'), 5000)).toBeGreaterThan(0);
    expect(made.admit(10, 0, 5000)).toBe(0);
    expect(made.nextAt(0, 5000)).toBe(25_000);
  });

  it('keeps a probe for later when the pull brings none', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    expect(made.admit(10, 0, 5000)).toBe(1);
    expect(made.admit(10, 0, 60_000)).toBe(1);
  });

  it('lets a probe through though handlers hang from before', () => {
    const made = gate({ off: ['concurrency'] });
    const hanging = Array.from({ length: 10 }, (_, i) => passage(`hanging ${i}`));
    for (const one of hanging) made.enter(one, 0);
    endTogether(made, REFUSED, 20, 0);
    made.set({ set: 'limit', limit: 1, forMs: MINUTE, why: 'x' }, 0);
    expect(made.admit(10, 0, 5000)).toBe(1);
    expect(made.enter(passage('probe'), 5000)).toBe(0);
  });
});

describe('a message that may not start', () => {
  it('comes back when the breaker probes, or later', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    const waits = Array.from({ length: 100 }, (_, i) => made.enter(passage(`m${i}`), 1000));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(4000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
  });

  it('comes back within two minutes, however long it is shut: somebody may open it any time', () => {
    const made = gate();
    made.set({ set: 'paused', forMs: 86_400_000, why: 'a test' }, 0);
    const waits = Array.from({ length: 10_000 }, (_, i) => made.enter(passage(`m${i}`), 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(120_000);
  });

  it('comes back the later, the more come in vain, up to a minute', () => {
    const made = gate();
    made.set({ set: 'breaker', to: 'open', forMs: 60_000, why: 'a test' }, 0);
    const waits = Array.from({ length: 10_000 }, (_, i) => made.enter(passage(`m${i}`), 0) - 60_000);
    const mean = (from: number, to: number) => waits.slice(from, to).reduce((a, b) => a + b, 0) / (to - from);
    expect(mean(0, 100)).toBeLessThan(600);
    expect(mean(9000, 10_000)).toBeGreaterThan(25_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it('comes back soon again once the door was open', () => {
    const made = gate();
    made.set({ set: 'breaker', to: 'open', forMs: 1000, why: 'a test' }, 0);
    for (let i = 0; i < 5000; i++) made.enter(passage(`m${i}`), 0);
    made.set({ set: 'breaker', to: 'closed', forMs: 0, why: 'a test' }, 0);
    run(made, DONE, 0);
    made.set({ set: 'breaker', to: 'open', forMs: 1000, why: 'a test' }, 0);
    expect(made.enter(passage('a'), 0)).toBeLessThanOrEqual(1010);
  });

  it('obeys the numbers of its wait', () => {
    const waits = (scopes: NonNullable<StormOverrides['scopes']>) => {
      const made = gate({ numbers: { scopes } });
      for (let i = 0; i < 20; i++) made.enter(passage(`running ${i}`), 0);
      const all = Array.from({ length: 1000 }, (_, i) => made.enter(passage(`m${i}`), 0));
      return { least: Math.min(...all), most: Math.max(...all) };
    };
    const { least, most } = waits({});
    expect(waits({ turnedAwayMs: 5000 }).least).toBeGreaterThanOrEqual(5000);
    expect(least).toBeLessThan(5000);
    expect(waits({ spreadMs: 100 }).most).toBeGreaterThan(most);
    expect(waits({ longestSpreadMs: 100 }).most).toBeLessThanOrEqual(350);
    expect(most).toBeGreaterThan(350);
  });

  it('is the one that probed last, once', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    run(made, REFUSED, 5000, { id: 'a' });
    expect(made.enter(passage('a'), 15_000)).toBeGreaterThan(0);
    expect(made.enter(passage('a'), 15_000)).toBe(0);
  });

  it('changes nothing when it is given back', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    const turnedAway = passage('a');
    made.enter(turnedAway, 0);
    expect(made.outcome(turnedAway, LEFT, 0, MIDDLE)).toMatchObject({ charged: true, fused: false });
    expect(made.view(0).inFlight).toBe(0);
  });
});

describe('an outcome', () => {
  it('is heard once', () => {
    const made = gate();
    const one = passage('a');
    made.enter(one, 0);
    for (let i = 0; i < 5; i++) made.outcome(one, DONE, 0, 0);
    expect(made.view(0).inFlight).toBe(0);
  });

  it('that is a success says always the same, and makes no object for it', () => {
    const made = gate();
    expect(run(made, DONE, 0)).toBe(run(made, { kind: 'skip', why: 'a test' }, 1));
  });

  it('of a probe that was lost lets another one probe', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    const probe = passage('a');
    expect(made.enter(probe, 5000)).toBe(0);
    made.outcome(probe, LEFT, 5100, MIDDLE);
    expect(made.admit(10, 0, 5100)).toBe(1);
  });

  it.each<[what: string, outcome: Outcome, state: string]>([
    ['a success', DONE, 'ramping'],
    ['an unknown failure', BUG, 'ramping'],
    ['poison', POISON, 'ramping'],
    ['a retry by name', { kind: 'retryIn', delayMs: 1, why: '' }, 'ramping'],
    ['a quarantine by name', { kind: 'quarantine', why: '' }, 'ramping'],
    ['a dependency failure', REFUSED, 'open'],
    ['a passed deadline', timedOut(), 'open'],
    ['a passed deadline that is the dependency’s', timedOut('transient'), 'open'],
  ])('of a probe that is %s makes the breaker go on', (_, outcome, state) => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0);
    run(made, outcome, 5000);
    expect(made.view(5000).scopes[0]!.breaker.state).toBe(state);
  });

  it.each<[what: string, outcome: Outcome, limit: number]>([
    ['a success', DONE, 20],
    ['an unknown failure', BUG, 20],
    ['a dependency failure', REFUSED, 14],
    ['a passed deadline', timedOut(), 14],
  ])('that is %s moves the limit', (_, outcome, limit) => {
    const made = gate();
    run(made, outcome, 1000);
    expect(made.view(1000).scopes[0]!.limit).toBe(limit);
  });

  it('that throttles with a time costs the budget a tenth', () => {
    const tokens = (outcome: Outcome) => {
      const made = gate();
      run(made, outcome, 0);
      return made.view(0).scopes[0]!.budget;
    };
    expect([tokens(REFUSED), tokens(failed('transient', 'Throttled', { retryAfterMs: 1000 })), tokens(BUG)]).toEqual([
      90, 99, 90,
    ]);
    expect([tokens(POISON), tokens(DONE)]).toEqual([100, 100]);
  });

  it('makes retries wait once the budget is spent, and fresh messages not', () => {
    const made = gate({ off: ['breaker', 'concurrency', 'systemic'] });
    const waits = Array.from(
      { length: 12 },
      (_, i) => run(made, failed('unknown', `E${i}`), 0, { id: `m${i}` }).slowMs,
    );
    expect(waits).toEqual([...new Array(10).fill(0), 20_000, 20_000]);
    expect(made.enter(passage('fresh'), 0)).toBe(0);
  });
});

describe('whose fault it is', () => {
  it('is the message’s that fails alone, each time', () => {
    const made = gate();
    for (let attempt = 1; attempt <= 4; attempt++) {
      run(made, DONE, attempt * 10_000 - 1);
      expect(run(made, REFUSED, attempt * 10_000, { id: 'alone', attempt }).charged).toBe(true);
    }
  });

  it('is nobody’s while others fail too', () => {
    const made = gate();
    expect(runMany(made, REFUSED, 6, 0).map(({ charged }) => charged)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(run(made, REFUSED, 1000, { id: '0 0' })).toMatchObject({
      charged: false,
      why: 'other messages fail on what this queue depends on too',
    });
  });

  it('is the message’s again after a success', () => {
    const made = gate();
    runMany(made, REFUSED, 5, 0);
    run(made, DONE, 1);
    expect(run(made, REFUSED, 2).charged).toBe(true);
  });

  it('is nobody’s while the breaker is open, also of runs that started before', () => {
    const made = gate({ numbers: { guilt: { others: 1000 } }, off: ['concurrency'] });
    const late = passage('late');
    made.enter(late, 0);
    endTogether(made, REFUSED, 20, 0);
    expect(made.outcome(late, REFUSED, 100, MIDDLE).charged).toBe(false);
  });

  it('is judged by the dependency that a failure names', () => {
    const made = gate();
    const on = (dependency: string, id: string) =>
      run(made, failed('transient', 'E', { dependency }), 0, { id }).charged;
    expect([on('stripe', 'a'), on('stripe', 'b'), on('mail', 'c'), on('stripe', 'd')]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('is nobody’s in an outage of which only failures tell, between a few successes', () => {
    const made = gate();
    const failures = Array.from({ length: 30 }, (_, i) => {
      for (let j = 0; j < 5; j++) run(made, DONE, i * 100);
      return run(made, failed('transient', 'E', { dependency: 'stripe' }), i * 100, { id: `m${i}` }).charged;
    });
    expect(failures.filter((charged) => charged)).toHaveLength(2);
  });

  it('is theirs where three bad messages fail among thousands of good ones', () => {
    const made = gate();
    for (let round = 0; round < 4; round++) {
      for (const id of ['a', 'b', 'c']) {
        for (let j = 0; j < 30; j++) run(made, DONE, round * 10_000);
        expect(run(made, failed('transient', 'E', { dependency: 'stripe' }), round * 10_000, { id }).charged).toBe(
          true,
        );
      }
    }
  });

  it('is the message’s where it has no id, as if all such were one', () => {
    const made = gate();
    for (let i = 0; i < 10; i++) {
      const nameless = passage(undefined);
      made.enter(nameless, 0);
      expect(made.outcome(nameless, REFUSED, 0, MIDDLE).charged).toBe(true);
    }
  });

  it('is nobody’s when an unknown error is systemic, which is slowed while the rest flows', () => {
    const made = gate({ numbers: { systemic: { pauseShare: 1.1 } }, off: ['budget'] });
    const verdicts = runMany(made, BUG, 30, 0);
    expect(verdicts.filter(({ charged }) => charged)).toHaveLength(19);
    expect(verdicts.at(-1)).toEqual({
      charged: false,
      slowMs: expect.any(Number),
      fused: false,
      why: `30 of the last 30 messages failed with ${printOf(BUG)}`,
    });
    expect(verdicts.at(-1)!.slowMs).toBeGreaterThanOrEqual(4000);
    expect(whats(made)).toEqual(['systemic']);
    expect(run(made, DONE, 1).charged).toBe(true);
    expect(run(made, failed('unknown', 'Another'), 1).charged).toBe(true);
  });

  it('is not systemic for an error that is few among messages that fail otherwise', () => {
    const made = gate({ off: ['breaker', 'concurrency'] });
    runMany(made, POISON, 20, 0);
    runMany(made, REFUSED, 20, 1);
    expect(runMany(made, BUG, 30, 2).every(({ charged }) => charged)).toBe(true);
  });

  it('is systemic for handlers that all pass their deadline', () => {
    const made = gate({ numbers: { systemic: { pauseShare: 1.1 } } });
    expect(runMany(made, timedOut(), 25, 0).at(-1)!.charged).toBe(false);
  });
});

describe('the fuse', () => {
  it('holds back what would be the 101st letter, and tells', () => {
    const made = gate({ numbers: { fuse: { pauseShare: 1.1 } } });
    const verdicts = runMany(made, POISON, 120, 0);
    expect(verdicts.filter(({ fused }) => fused)).toHaveLength(20);
    expect(verdicts[100]).toMatchObject({
      charged: false,
      fused: true,
      why: `100 of the last 101 outcomes were letters of ${printOf(POISON)}`,
    });
    expect(verdicts[100]!.slowMs).toBeGreaterThanOrEqual(4000);
    expect(whats(made)).toEqual(['fused']);
    expect(made.view(0).fused).toEqual([printOf(POISON)]);
  });

  it('counts what is exhausted, and what is said or refused as it is', () => {
    const letters = (outcome: Outcome, attempt: number) => {
      const made = gate({
        numbers: { fuse: { pauseShare: 1.1 } },
        off: ['systemic', 'breaker', 'concurrency', 'guilt'],
      });
      return runMany(made, outcome, 130, 0, { attempt }).filter(({ fused }) => fused).length;
    };
    expect([letters(BUG, 4), letters(BUG, 3), letters(BUG, Number.NaN), letters(REFUSED, 4)]).toEqual([30, 0, 30, 30]);
    const retryIn: Outcome = { kind: 'retryIn', delayMs: 1, why: '' };
    expect([letters({ kind: 'quarantine', why: '' }, 1), letters(retryIn, 4), letters(retryIn, 1)]).toEqual([
      30, 30, 0,
    ]);
  });

  it.each<[reason: 'oversize' | 'crash' | 'blocked-key', fused: number]>([
    ['oversize', 30],
    ['crash', 0],
    ['blocked-key', 0],
  ])('holds back %s or not: %d of 130', (reason, fused) => {
    const made = gate({ numbers: { fuse: { pauseShare: 1.1 } } });
    const verdicts = Array.from({ length: 130 }, (_, i) =>
      made.outcome(passage(`m${i}`), { kind: 'refused', reason, why: '' }, 0, MIDDLE),
    );
    expect(verdicts.filter((verdict) => verdict.fused)).toHaveLength(fused);
  });

  it('ends by itself and tells so, when asked for admission', () => {
    const made = gate({ numbers: { fuse: { pauseShare: 1.1 } } });
    runMany(made, POISON, 120, 0);
    made.admit(1, 0, 20 * MINUTE);
    expect(whats(made)).toEqual(['fused', 'fuse-cleared']);
    expect(made.view(20 * MINUTE).fused).toEqual([]);
  });
});

describe('a pause', () => {
  const paused = () => {
    const made = gate();
    runMany(made, DONE, 2, 0);
    for (let i = 0; i < 20; i++) {
      const one = passage(`m${i}`);
      if (made.enter(one, 0) === 0) made.outcome(one, BUG, 0, MIDDLE);
    }
    return made;
  };

  it('stops a queue in which nearly everything fails in one way, and says why', () => {
    const made = paused();
    expect(made.changes()).toEqual([
      { what: 'systemic', fingerprint: printOf(BUG), why: `18 of the last 20 messages failed with ${printOf(BUG)}` },
      {
        what: 'paused',
        why: `18 of the last 20 messages failed with ${printOf(BUG)}`,
        forMs: 20_000,
        fingerprint: printOf(BUG),
      },
    ]);
    expect(made.view(0).pause).toMatchObject({ state: 'open', fingerprint: printOf(BUG) });
    expect(made.nextAt(0, 10_000)).toBe(20_000);
    expect(made.admit(10, 0, 19_999)).toBe(0);
  });

  it('goes on, more and more slowly, while probes fail in that way, and charges nobody', () => {
    const made = paused();
    let now = 20_000;
    const openMs: number[] = [];
    for (let i = 0; i < 40; i++) {
      expect(made.admit(10, 0, now)).toBe(1);
      expect(run(made, BUG, now, { id: `probe ${i}`, attempt: 4 })).toMatchObject({ charged: false, fused: false });
      openMs.push(made.nextAt(0, now) - now);
      now = made.nextAt(0, now);
    }
    expect(openMs.slice(0, 6)).toEqual([40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  });

  it('lets one probe at a time through, and another when it is lost', () => {
    const made = paused();
    const probe = passage('a');
    expect(made.enter(probe, 20_000)).toBe(0);
    expect(made.enter(passage('b'), 20_000)).toBeGreaterThan(0);
    expect(made.admit(10, 0, 20_000)).toBe(0);
    made.outcome(probe, LEFT, 20_100, MIDDLE);
    expect(made.nextAt(0, 20_100)).toBe(20_100);
    expect(made.nextAt(1, 20_100)).toBe(Number.POSITIVE_INFINITY);
    expect(made.admit(10, 0, 20_100)).toBe(1);
  });

  it('sees its fingerprint in a dependency failure too, whatever the attempt', () => {
    const made = gate({ off: ['breaker', 'concurrency', 'guilt'] });
    for (let i = 0; i < 101; i++) run(made, REFUSED, 0, { id: `m${i}`, attempt: 4 });
    expect(whats(made)).toEqual(['fused', 'paused']);
    expect(run(made, REFUSED, 20_000, { attempt: 1 }).charged).toBe(false);
    expect(made.view(20_000).pause.state).toBe('open');
  });

  it('ends at once where there is no ramp', () => {
    const made = gate({ off: ['ramp'] });
    made.set({ set: 'paused', forMs: 1000, why: 'a test' }, 0);
    run(made, DONE, 1000);
    expect(made.admit(10, 0, 1000)).toBe(10);
  });

  it('ends with the first probe that fails otherwise or succeeds, on a ramp', () => {
    for (const outcome of [DONE, REFUSED, failed('unknown', 'Another')]) {
      const made = paused();
      made.changes();
      run(made, outcome, 20_000);
      expect(whats(made)).toContain('resumed');
      expect(made.admit(10, 0, 20_000)).toBe(1);
      expect(made.admit(10, 0, 23_000)).toBe(4);
      expect(made.admit(100, 0, 120_000)).toBeGreaterThan(10);
    }
  });

  it('does not come back for what was counted before it', () => {
    const made = paused();
    run(made, DONE, 20_000);
    made.changes();
    for (let i = 0; i < 10; i++) run(made, BUG, 21_000 + i, { id: `later ${i}` });
    expect(whats(made)).not.toContain('paused');
  });

  it('does not come back for the letters that were counted before it', () => {
    const made = gate();
    for (let i = 0; i < 101; i++) run(made, POISON, 0, { id: `m${i}` });
    run(made, DONE, 20_000);
    made.changes();
    expect(run(made, POISON, 21_000).fused).toBe(true);
    expect(whats(made)).toEqual([]);
  });

  it('lets no letter of its fingerprint through, also where the fuse has long forgotten', () => {
    const made = gate();
    for (let i = 0; i < 101; i++) run(made, POISON, 0, { id: `m${i}` });
    expect(whats(made)).toEqual(['fused', 'paused']);
    let now = 20_000;
    for (let i = 0; i < 20; i++) {
      expect(run(made, POISON, now, { id: `probe ${i}` }).fused).toBe(true);
      now = made.nextAt(0, now);
    }
    expect(now).toBeGreaterThan(60 * MINUTE);
  });

  it('is set and ended by hand', () => {
    const made = gate();
    made.set({ set: 'paused', forMs: 30 * MINUTE, why: 'a migration' }, 0);
    expect(made.admit(10, 0, 30 * MINUTE - 1)).toBe(0);
    expect(made.admit(10, 0, 30 * MINUTE)).toBe(1);
    made.set({ set: 'paused', forMs: 30 * MINUTE, why: 'a migration' }, 0);
    made.set({ set: 'paused', forMs: 0, why: 'it is done' }, 1000);
    expect(made.admit(10, 0, 1000)).toBe(10);
    expect(made.changes().at(-1)).toEqual({ what: 'resumed', why: 'by hand: it is done' });
  });
});

describe('declared dependencies', () => {
  const down = () => {
    const made = gate();
    for (let i = 0; i < 10; i++) run(made, DONE, 0, { id: `ok ${i}`, dependency: 'mail' });
    endTogether(made, REFUSED, 20, 0, { dependency: 'stripe' });
    return made;
  };

  it('stop one by one: the others flow', () => {
    const made = down();
    expect(made.enter(passage('a', { dependency: 'stripe' }), 100)).toBeGreaterThan(4000);
    expect(made.enter(passage('b', { dependency: 'mail' }), 100)).toBe(0);
    expect(made.admit(100, 0, 100)).toBe(19);
  });

  it('stop the pull when all are down', () => {
    const made = down();
    endTogether(made, REFUSED, 20, 100, { dependency: 'mail' });
    expect(made.admit(100, 0, 200)).toBe(0);
    expect(made.nextAt(0, 200)).toBe(5000);
    expect(made.admit(100, 0, 5100)).toBe(2);
  });

  it('take no room from each other when a limit is cut below what runs', () => {
    const made = gate();
    const running = Array.from({ length: 20 }, (_, i) => passage(`m${i}`, { dependency: 'mail' }));
    for (const one of running) made.enter(one, 0);
    run(made, DONE, 0, { dependency: 'stripe' });
    made.outcome(running[0]!, REFUSED, 1000, MIDDLE);
    expect(made.admit(100, 0, 1000)).toBe(20);
  });

  it('are asked for anew when none was used for a while', () => {
    const made = gate();
    run(made, DONE, 0, { dependency: 'stripe' });
    expect(made.admit(100, 0, 61_000)).toBe(20);
  });

  it('have their own limit, budget and guilt', () => {
    const made = down();
    const { scopes } = made.view(100);
    expect(scopes.map(({ dependency, limit }) => [dependency, limit])).toEqual([
      [undefined, 20],
      ['mail', 20],
      ['stripe', 14],
    ]);
    expect(run(made, REFUSED, 100, { id: 'a', dependency: 'mail' }).charged).toBe(true);
  });

  it('are bounded, whatever names come, and long names are cut', () => {
    const made = gate({ off: ['breaker', 'concurrency'] });
    for (let i = 0; i < 1000; i++) {
      run(made, failed('transient', 'E', { dependency: `${'x'.repeat(100_000)}${i}` }), i, { id: `m${i}` });
      run(made, DONE, i, { dependency: `name ${i}` });
    }
    const { scopes } = made.view(1000);
    expect(scopes).toHaveLength(1 + 16 + 1);
    expect(Math.max(...scopes.map(({ dependency = '' }) => dependency.length))).toBeLessThanOrEqual(256);
    expect(made.view(1000).inFlight).toBe(0);
    expect(scopes.every(({ inFlight }) => inFlight === 0)).toBe(true);
  });

  it('keep their place while one runs, however long', () => {
    const made = gate({ numbers: { scopes: { dependencies: 1 } } });
    const long = passage('long', { dependency: 'a' });
    made.enter(long, 0);
    run(made, DONE, 3_600_000, { dependency: 'b' });
    expect(made.view(3_600_000).scopes.map(({ inFlight }) => inFlight)).toEqual([0, 1, 0]);
    made.outcome(long, DONE, 3_600_000, 0);
    expect(made.view(3_600_000).scopes.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });

  it('obey their numbers', () => {
    const scopes = (change: NonNullable<StormOverrides['scopes']>) => {
      const made = gate({ numbers: { scopes: change } });
      for (const [i, dependency] of ['a', 'b', 'c'].entries()) run(made, DONE, i * 1000, { dependency });
      return made.view(3000).scopes.map(({ dependency }) => dependency);
    };
    expect(scopes({})).toEqual([undefined, 'a', 'b', 'c']);
    expect(scopes({ dependencies: 1 })).toEqual([undefined, 'a', 'others']);
    expect(scopes({ dependencies: 1, idleMs: 500 })).toEqual([undefined, 'c']);
    const admitted = (liveMs: number) => {
      const made = gate({ numbers: { scopes: { liveMs } } });
      run(made, DONE, 0, { dependency: 'a' });
      run(made, DONE, 1000, { dependency: 'b' });
      return made.admit(100, 0, 1500);
    };
    expect([admitted(60_000), admitted(1000)]).toEqual([40, 20]);
  });

  it('give their place away when they are idle, and take __proto__ for a name', () => {
    const made = gate({ numbers: { scopes: { dependencies: 1 } } });
    run(made, DONE, 0, { dependency: '__proto__' });
    run(made, DONE, 599_999, { dependency: 'b' });
    expect(made.view(599_999).scopes.map(({ dependency }) => dependency)).toEqual([undefined, '__proto__', 'others']);
    run(made, DONE, 600_000, { dependency: 'b' });
    expect(made.view(600_000).scopes.map(({ dependency }) => dependency)).toEqual([undefined, 'others', 'b']);
  });
});

describe('a run that turns out to need a dependency', () => {
  /** Started without naming one. */
  function started(made: Gate, id: string, now: number): Passage {
    const one = passage(id);
    expect(made.enter(one, now)).toBe(0);
    return one;
  }
  const inFlightOf = (made: Gate, now: number) => made.view(now).scopes.map(({ inFlight }) => inFlight);

  it('moves there, once, and what becomes of it counts there', () => {
    const made = gate();
    const all = Array.from({ length: 20 }, (_, i) => started(made, `m${i}`, 0));
    for (const one of all) expect([made.need(one, 'payments', 0), made.need(one, 'payments', 0)]).toEqual([0, 0]);
    expect(inFlightOf(made, 0)).toEqual([0, 20]);
    for (const one of all) made.outcome(one, REFUSED, 0, MIDDLE);
    expect(inFlightOf(made, 0)).toEqual([0, 0]);
    expect(made.view(0).scopes.map(({ breaker }) => breaker.state)).toEqual(['closed', 'open']);
  });

  it('may not while that is down, and stays where it was', () => {
    const made = gate();
    endTogether(made, REFUSED, 20, 0, { dependency: 'payments' });
    const one = started(made, 'late', 1000);
    expect(made.need(one, 'payments', 1000)).toBeGreaterThanOrEqual(4000);
    expect([inFlightOf(made, 1000), one.dependency]).toEqual([[1, 0], undefined]);
  });

  it('has been let through a pause already', () => {
    const made = gate();
    runMany(made, BUG, 20, 0);
    expect(made.view(0).pause.state).toBe('open');
    const probe = started(made, 'probe', 30_000);
    expect(made.need(probe, 'payments', 30_000)).toBe(0);
    made.outcome(probe, DONE, 30_000, MIDDLE);
    expect(made.view(30_000).pause.state).toBe('ramping');
  });

  it('asks for nothing once it is over', () => {
    const made = gate();
    const one = started(made, 'm', 0);
    made.outcome(one, DONE, 0, MIDDLE);
    expect([made.need(one, 'payments', 0), inFlightOf(made, 0)]).toEqual([0, [0, 0]]);
  });
});

describe('by hand', () => {
  it('a breaker is opened and closed, with an end, a reason and an event', () => {
    const made = gate();
    made.set({ set: 'breaker', dependency: 'stripe', to: 'open', forMs: 1000, why: 'maintenance' }, 0);
    expect(made.changes()).toEqual([
      { what: 'breaker', dependency: 'stripe', state: 'open', why: 'by hand: maintenance', forMs: 1000 },
    ]);
    expect(made.enter(passage('a', { dependency: 'stripe' }), 999)).toBeGreaterThan(0);
    expect(made.enter(passage('a', { dependency: 'stripe' }), 1000)).toBe(0);
    made.set({ set: 'breaker', to: 'closed', forMs: 60_000, why: 'we know' }, 0);
    runMany(made, REFUSED, 100, 1000);
    expect(made.view(1000).scopes[0]!.breaker).toEqual({
      state: 'closed',
      why: 'by hand: we know',
      pinnedForMs: 59_000,
    });
  });

  it('a limit and a rate hold for so long', () => {
    const made = gate({ rate: { count: 4000, perMs: 1000 } });
    made.set({ set: 'limit', limit: 3, forMs: 1000, why: 'x' }, 0);
    expect([made.admit(100, 0, 999), made.admit(100, 0, 1000)]).toEqual([3, 20]);
    made.set({ set: 'rate', rate: { count: 1, perMs: 1000 }, forMs: 10_000, why: 'x' }, 1000);
    expect([made.admit(100, 0, 1000), made.admit(100, 0, 1500), made.admit(100, 0, 2000)]).toEqual([1, 0, 1]);
    expect(made.admit(100, 0, 11_100)).toBe(20);
  });

  it('a rate is set where there was none', () => {
    const made = gate();
    made.set({ set: 'rate', rate: { count: 1, perMs: 1000 }, forMs: 10_000, why: 'x' }, 0);
    expect([made.admit(100, 0, 0), made.admit(100, 0, 10_000)]).toEqual([1, 20]);
    expect(made.view(10_000).tokens).toBeUndefined();
  });

  it('a fingerprint is forgiven, with the pause that it brought about', () => {
    const made = gate();
    for (let i = 0; i < 101; i++) run(made, POISON, 0, { id: `m${i}` });
    made.changes();
    made.set({ set: 'forgiven', fingerprint: printOf(POISON), why: 'deployed' }, 1000);
    expect(made.changes()).toEqual([
      { what: 'fuse-cleared', fingerprint: printOf(POISON), why: 'by hand: deployed' },
      { what: 'resumed', why: 'by hand: deployed' },
    ]);
    expect(run(made, POISON, 1000).fused).toBe(false);
    made.set({ set: 'forgiven', fingerprint: 'v1:unheard-of', why: 'a mistake' }, 1000);
    expect(made.changes()).toEqual([]);
  });
});

describe('each mechanism', () => {
  /** The same trouble for every one; what differs when it is off is what it does. */
  const effects: Record<Mechanism, (made: Gate) => unknown> = {
    rate: (made) => made.admit(20, 0, 0),
    concurrency: (made) => made.view(0).scopes[0]!.limit,
    latency: (made) => {
      let now = 0;
      for (const latencyMs of [300, 900]) {
        for (let i = 0; i < 60; i++) {
          const one = passage(`m${i}`);
          made.enter(one, now);
          now += latencyMs;
          made.outcome(one, DONE, now, 0);
        }
      }
      return made.view(now).scopes[0]!.limit < 20;
    },
    breaker: (made) => {
      endTogether(made, REFUSED, 20, 0);
      return made.view(0).scopes[0]!.breaker.state;
    },
    ramp: (made) => {
      endTogether(made, REFUSED, 20, 0);
      run(made, DONE, 5000);
      return made.view(5000).scopes[0]!.breaker.state;
    },
    budget: (made) => runMany(made, failed('unknown', 'E'), 15, 0).at(-1)!.slowMs,
    guilt: (made) => runMany(made, REFUSED, 10, 0).at(-1)!.charged,
    fuse: (made) => {
      let last = run(made, DONE, 0);
      for (let i = 0; i < 120; i++) {
        run(made, DONE, 0);
        last = run(made, POISON, 0);
      }
      return last.fused;
    },
    systemic: (made) => {
      for (let i = 0; i < 10; i++) run(made, DONE, 0);
      return runMany(made, BUG, 30, 0).at(-1)!.charged;
    },
  };

  it.each(Object.keys(effects) as Mechanism[])('can be switched off by name: %s', (mechanism) => {
    const options = { rate: { count: 40, perMs: 1000 } };
    const effect = effects[mechanism];
    expect(effect(gate({ ...options, off: [mechanism] }))).not.toEqual(effect(gate(options)));
  });

  it('is off only where it is named', () => {
    for (const mechanism of Object.keys(effects) as Mechanism[]) {
      const others = (Object.keys(effects) as Mechanism[]).filter(
        (name) => name !== mechanism && !['concurrency', 'latency'].includes(name),
      );
      const options = { rate: { count: 40, perMs: 1000 } };
      if (mechanism === 'ramp' || mechanism === 'latency' || mechanism === 'concurrency') continue;
      expect(effects[mechanism](gate({ ...options, off: others }))).toEqual(effects[mechanism](gate(options)));
    }
  });
});

describe('whatever happens to a gate', () => {
  const outcomes = fc.constantFrom<Outcome>(
    DONE,
    DONE,
    DONE,
    REFUSED,
    REFUSED,
    BUG,
    POISON,
    LEFT,
    timedOut(),
    timedOut('transient'),
    failed('unknown', 'Another'),
    failed('transient', 'Throttled', { retryAfterMs: 30_000, dependency: 'stripe' }),
    { kind: 'skip', why: '' },
    { kind: 'retryIn', delayMs: 5, why: '' },
    { kind: 'quarantine', why: '' },
    { kind: 'refused', reason: 'oversize', why: '' },
  );
  const steps = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.nat(20), fc.nat(2000), fc.nat(60_000)),
      want: fc.nat(30),
      ends: fc.nat(30),
      outcome: outcomes,
      dependency: fc.constantFrom(undefined, undefined, 'stripe', 'mail'),
      attempt: fc.integer({ min: 1, max: 5 }),
      chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      hand: fc.option(
        fc.constantFrom<Parameters<Gate['set']>[0]>(
          { set: 'paused', forMs: 10_000, why: '' },
          { set: 'paused', forMs: 0, why: '' },
          { set: 'breaker', to: 'open', forMs: 5000, why: '' },
          { set: 'breaker', dependency: 'stripe', to: 'half-open', forMs: 5000, why: '' },
          { set: 'breaker', to: 'closed', forMs: 5000, why: '' },
          { set: 'limit', limit: 2, forMs: 5000, why: 'x' },
          { set: 'rate', rate: { count: 5, perMs: 1000 }, forMs: 5000, why: 'x' },
          { set: 'forgiven', fingerprint: printOf(POISON), why: '' },
        ),
        { freq: 10 },
      ),
    }),
    { maxLength: 80 },
  );

  /** Pulls, starts and ends in steps; answers everything that the gate said. */
  function live(
    made: Gate,
    all: Steps,
    seen: (made: Gate, now: number, running: readonly Passage[]) => void = () => {},
  ): unknown[] {
    const said: unknown[] = [];
    const running: Passage[] = [];
    let now = 0;
    let id = 0;
    for (const step of all) {
      now += step.afterMs;
      if (step.hand !== null) made.set(step.hand, now);
      const admitted = made.admit(step.want, 0, now);
      said.push(admitted);
      for (let i = 0; i < admitted; i++) {
        const one = passage(`m${id++ % 50}`, { dependency: step.dependency, attempt: step.attempt });
        const waitMs = made.enter(one, now);
        said.push(waitMs);
        if (waitMs === 0) running.push(one);
      }
      for (const one of running.splice(0, step.ends)) said.push(made.outcome(one, step.outcome, now, step.chance));
      said.push(made.changes());
      seen(made, now, running);
    }
    for (const one of running) made.outcome(one, LEFT, now, 0);
    said.push(made.view(now));
    return said;
  }
  type Steps = typeof steps extends fc.Arbitrary<infer S> ? S : never;

  it('it counts exactly those that run, and never more than may', () => {
    fc.assert(
      fc.property(steps, (all) => {
        live(gate(), all, (made, now, running) => {
          const { inFlight, scopes } = made.view(now);
          expect(inFlight).toBe(running.length);
          expect(scopes.reduce((sum, scope) => sum + scope.inFlight, 0)).toBe(running.length);
          for (const { limit, inFlight } of scopes) {
            expect(limit).toBeGreaterThanOrEqual(1);
            expect(limit).toBeLessThanOrEqual(OPTIONS.concurrency);
            expect(inFlight).toBeLessThanOrEqual(OPTIONS.concurrency);
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  it('it says the same to the same', () => {
    fc.assert(
      fc.property(steps, (all) => {
        expect(live(gate({ rate: { count: 100, perMs: 1000 } }), all)).toEqual(
          live(gate({ rate: { count: 100, perMs: 1000 } }), all),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('a verdict makes sense: uncharged says why, fused is uncharged, waits are whole and bounded', () => {
    fc.assert(
      fc.property(steps, (all) => {
        for (const one of live(gate(), all)) {
          if (typeof one !== 'object' || one === null || !('slowMs' in one)) continue;
          const { charged, fused, slowMs, why } = one as ReturnType<Gate['outcome']>;
          expect(charged).toBe(why === '');
          if (fused) expect(charged).toBe(false);
          expect(Number.isSafeInteger(slowMs) && slowMs >= 0 && slowMs <= 300_000).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('it lets everything flow again once everything is well, in bounded time', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const made = gate();
        live(made, all);
        let now = all.reduce((sum, { afterMs }) => sum + afterMs, 0);
        const endsAt = now + 600_000;
        for (let id = 0; now < endsAt; now += 200) {
          const all = Array.from({ length: made.admit(10, 0, now) }, () => passage(`well ${id++}`));
          const running = all.filter((one) => made.enter(one, now) === 0);
          for (const one of running) made.outcome(one, DONE, now + 10, 0);
        }
        expect(made.admit(10, 0, now)).toBe(10);
        expect(made.view(now)).toMatchObject({ inFlight: 0, pause: { state: 'closed' }, fused: [], systemic: [] });
      }),
      { numRuns: 60 },
    );
  });
});
