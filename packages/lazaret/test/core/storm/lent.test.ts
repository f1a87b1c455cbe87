import { describe, expect, it } from 'vitest';
import { Breaker, type BreakerChange } from '../../../src/core/storm/breaker.ts';
import { Gate } from '../../../src/core/storm/gate.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { RateLimit } from '../../../src/core/storm/rate-limit.ts';
import { DONE, passage } from './outcomes.ts';

const OPTIONS = { concurrency: 50, timeoutMs: 900_000, maxAttempts: 4 };
const MIDDLE = 0.5;

describe('a lent rate', () => {
  const limit = () => new RateLimit({ burstMs: 250 }, { count: 100, perMs: 1000 }, 0);

  it('gives what was lent and no more, whatever time passes, and says how much was missing', () => {
    const made = limit();
    made.beginSlice(0, 250);
    made.lend(10, 250);
    expect([made.take(4, 0), made.take(20, 10), made.take(20, 10_000)]).toEqual([4, 6, 0]);
    expect(made.use(20)).toEqual({ rate: { count: 100, perMs: 1000 }, have: 0, spent: 10, short: 20 });
    expect([made.waitMs(20), made.waitMs(400)]).toEqual([230, 1]);
    made.handBack(3);
    expect([made.tokens(20), made.use(20)?.spent]).toEqual([3, 7]);
  });

  it('counts pieces of tokens together', () => {
    const made = limit();
    made.beginSlice(0, 250);
    for (let slice = 0; slice < 9; slice++) made.lend(0.1, 250);
    expect(made.take(1, 0)).toBe(0);
    made.lend(0.1, 250);
    expect(made.take(1, 0)).toBe(1);
  });

  it('is a share of the rate where nobody lends any more, from an empty bucket', () => {
    const made = limit();
    made.beginSlice(0, 250);
    made.lend(10, 250);
    made.keepTo(0.5, 0);
    expect([made.take(10, 0), made.take(10, 20), made.take(10, 1_000)]).toEqual([0, 1, 1]);
  });
});

describe('lent slots', () => {
  it('are the most that run', () => {
    const gate = new Gate(OPTIONS, 0);
    gate.lendSlots(2);
    expect([gate.admit(10, 0, 0), gate.breadth(0)]).toEqual([2, 2]);
    const running = ['a', 'b'].map((id) => passage(id));
    expect(running.map((one) => gate.enter(one, 0))).toEqual([0, 0]);
    expect(gate.enter(passage('c'), 0)).toBeGreaterThan(0);
    expect([gate.admit(1, 0, 0), gate.nextAt(0, 0)]).toEqual([0, Number.POSITIVE_INFINITY]);
    gate.lendSlots(1);
    gate.outcome(running[0]!, DONE, 10, MIDDLE);
    expect(gate.enter(passage('d'), 10)).toBeGreaterThan(0);
    expect([gate.takePeak(), gate.takePeak()]).toEqual([
      { inFlight: 1, peak: 2 },
      { inFlight: 1, peak: 1 },
    ]);
    expect(gate.view(10).slots).toBe(1);
  });
});

describe('a breaker of a fleet', () => {
  function breaker(least = 20) {
    const told: BreakerChange[] = [];
    const fleet = { joined: true, processes: 4 };
    const made = new Breaker({ ...STORM.breaker, least }, 3, (change) => told.push(change), fleet);
    return { made, told, fleet };
  }

  it('opens as another one did, and does not probe before it may', () => {
    const { made, told } = breaker();
    expect(made.follow(0, 5_000, 3, 'down', 100)).toBe(true);
    expect(told).toEqual([{ state: 'open', why: 'down', forMs: 4_900, learned: true }]);
    expect([made.room(0, 4_999), made.room(0, 5_000), made.breadth(5_000)]).toEqual([0, 0, 0]);
    made.mayProbe(25_000);
    expect([made.room(0, 6_000), made.breadth(6_000), made.room(0, 25_000)]).toEqual([1, 1, 0]);
    made.start(1, 6_000);
    made.answered('sick', 6_000, 6_100, MIDDLE, 0);
    // The fourth opening in a row: 20 s, and found out here.
    expect(made.standing(6_100)).toMatchObject({ state: 'open', openings: 4, openedAt: 6_100, untilAt: 26_100 });
    expect(told.at(-1)).not.toHaveProperty('learned');
  });

  it('probes by itself where nobody else is heard', () => {
    const { made, fleet } = breaker();
    made.follow(0, 5_000, 1, 'down', 0);
    fleet.joined = false;
    expect(made.room(0, 5_000)).toBe(1);
  });

  it('ramps with the one whose probe was healthy, as far as that one is', () => {
    const { made, told } = breaker();
    made.follow(0, 5_000, 1, 'down', 0);
    made.followRamp(5_100, 'healthy', 6_200);
    expect([made.state(6_200), made.room(0, 6_200), made.state(7_100)]).toEqual(['ramping', 2, 'closed']);
    expect(told.map(({ state, learned }) => [state, learned])).toEqual([
      ['open', true],
      ['half-open', true],
      ['ramping', true],
      ['closed', true],
    ]);
  });

  it('does not follow while it does well itself, is switched off, or is held by a person', () => {
    const { made } = breaker();
    for (let n = 0; n < 20; n++) made.answered('well', 0, 1_000, MIDDLE, 0);
    expect(made.follow(500, 5_000, 1, 'down', 1_100)).toBe(false);
    for (let n = 0; n < 19; n++) made.answered('sick', 0, 1_200, MIDDLE, 0);
    expect(made.follow(500, 5_000, 1, 'down', 1_300)).toBe(false);
    expect(breaker(Number.POSITIVE_INFINITY).made.follow(0, 5_000, 1, 'down', 0)).toBe(false);
    const held = breaker().made;
    held.pin('closed', 10_000, 'by hand', 0);
    expect([held.follow(0, 5_000, 1, 'down', 0), held.state(0)]).toEqual([false, 'closed']);
  });

  it('follows once half of its own runs fail, however few they are', () => {
    const { made } = breaker();
    made.answered('well', 0, 1_000, MIDDLE, 0);
    expect(made.follow(500, 5_000, 1, 'down', 1_100)).toBe(false);
    made.answered('sick', 0, 1_200, MIDDLE, 0);
    expect(made.follow(500, 5_000, 1, 'down', 1_300)).toBe(true);
  });

  it('is not stopped in its ramp by the bad luck of another', () => {
    const { made } = breaker();
    made.follow(0, 5_000, 1, 'down', 0);
    made.followRamp(5_100, 'healthy', 5_100);
    made.answered('well', 5_100, 5_200, MIDDLE, 0);
    expect([made.follow(5_300, 9_000, 2, 'down', 5_400), made.state(5_400)]).toEqual([false, 'ramping']);
  });

  it('follows when what went well lies too far back', () => {
    const { made } = breaker();
    for (let n = 0; n < 20; n++) made.answered('well', 0, 1_000, MIDDLE, 0);
    expect(made.follow(500, 9_000, 1, 'down', 3_000)).toBe(true);
  });
});
