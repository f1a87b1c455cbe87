import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, Breaker, type BreakerChange } from '../../../src/core/storm/breaker.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';

const NUMBERS = STORM.breaker;
const FULL = 10;
/** No jitter. */
const MIDDLE = 0.5;

function breaker(change: Partial<typeof NUMBERS> = {}, full = FULL) {
  const told: BreakerChange[] = [];
  const made = new Breaker({ ...NUMBERS, ...change }, full, (change) => told.push(change));
  return { breaker: made, told, states: () => told.map(({ state }) => state) };
}

function answers(made: Breaker, answer: Answer, count: number, now: number, retryAfterMs = 0): void {
  for (let i = 0; i < count; i++) made.answered(answer, now, now, MIDDLE, retryAfterMs);
}

/** Starts a probe, which answers at once. */
function probe(made: Breaker, answer: Answer, now: number, message = now): void {
  expect(made.room(0, now)).toBe(1);
  made.start(message, now);
  made.answered(answer, now, now, MIDDLE, 0);
}

describe('a closed breaker', () => {
  it.each([
    ['19 failures of 19', 0, 19, 'closed'],
    ['20 failures of 20', 0, 20, 'open'],
    ['10 failures of 20', 10, 10, 'open'],
    ['10 failures of 21', 11, 10, 'closed'],
    ['500 failures of 1000', 500, 500, 'open'],
    ['499 failures of 1000', 501, 499, 'closed'],
  ])('after %s', (_, well, sick, state) => {
    const { breaker: made } = breaker();
    answers(made, 'well', well, 0);
    answers(made, 'sick', sick, 0);
    expect(made.state(0)).toBe(state);
  });

  it('lets everything through', () => {
    expect(breaker().breaker.room(1_000_000, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('takes no deadline for a failure of the dependency', () => {
    const { breaker: made } = breaker();
    answers(made, 'hung', 1000, 0);
    expect(made.state(0)).toBe('closed');
  });

  it('forgets what is older than its window', () => {
    const { breaker: made } = breaker();
    answers(made, 'sick', 19, 0);
    answers(made, 'sick', 19, 10_000);
    expect(made.state(10_000)).toBe('closed');
    answers(made, 'sick', 1, 18_000);
    expect(made.state(18_000)).toBe('open');
  });

  it('says why it opens, and for how long', () => {
    const { breaker: made, told } = breaker();
    answers(made, 'well', 5, 0);
    answers(made, 'sick', 15, 0);
    const why = '15 of 20 runs in 10 s were dependency failures';
    expect(told).toEqual([{ state: 'open', why, forMs: 5000 }]);
    expect(made.why(0)).toBe(why);
  });
});

describe('an open breaker', () => {
  const opened = (change: Partial<typeof NUMBERS> = {}, full = FULL) => {
    const made = breaker(change, full);
    answers(made.breaker, 'sick', NUMBERS.least, 0);
    return made;
  };

  it('lets nothing through until its time is over, then one', () => {
    const { breaker: made } = opened();
    expect(made.room(0, 4999)).toBe(0);
    expect(made.nextAt(4999)).toBe(5000);
    expect(made.room(0, 5000)).toBe(1);
    made.start(1, 5000);
    expect(made.room(0, 5000)).toBe(0);
  });

  it.each([
    [0, 4000],
    [0.5, 5000],
    [1 - 2 ** -53, 6000],
  ])('spreads its time by a fifth: chance %d, %d ms', (chance, openMs) => {
    const { breaker: made, told } = breaker();
    for (let i = 0; i < 20; i++) made.answered('sick', 0, 0, chance, 0);
    expect(told[0]!.forMs).toBe(openMs);
  });

  it('doubles its time with each unhealthy probe, up to the longest', () => {
    const { breaker: made, told } = opened();
    for (let i = 0; i < 4; i++) probe(made, 'sick', made.nextAt(0) === 0 ? 0 : nextAt(made));
    expect(told.filter(({ state }) => state === 'open').map(({ forMs }) => forMs)).toEqual([
      5000, 10_000, 20_000, 20_000, 20_000,
    ]);
  });

  it('hears nothing of runs that started before', () => {
    const { breaker: made } = opened();
    answers(made, 'well', 100, 1000);
    expect(made.state(1000)).toBe('open');
    expect(made.room(0, 5000)).toBe(1);
    made.start(1, 5000);
    made.answered('well', 4000, 5100, MIDDLE, 0);
    made.answered('sick', 4000, 5100, MIDDLE, 0);
    expect(made.state(5100)).toBe('half-open');
  });

  it.each([
    ['at its opening', (made: Breaker) => answers(made, 'sick', 20, 0, 60_000), 60_000],
    [
      'before its opening',
      (made: Breaker) => {
        answers(made, 'sick', 1, 0, 60_000);
        answers(made, 'sick', 19, 1000);
      },
      60_000,
    ],
    [
      'while it is open',
      (made: Breaker) => {
        answers(made, 'sick', 20, 0);
        answers(made, 'sick', 1, 1000, 60_000);
      },
      61_000,
    ],
    ['for longer than is heeded', (made: Breaker) => answers(made, 'sick', 20, 0, 86_400_000), 300_000],
    ['for less than it stays open', (made: Breaker) => answers(made, 'sick', 20, 0, 100), 5000],
  ])('is held open by a Retry-After %s', (_, act, until) => {
    const { breaker: made } = breaker();
    act(made);
    expect(made.room(0, until - 1)).toBe(0);
    expect(made.room(0, until)).toBe(1);
  });
});

function nextAt(made: Breaker): number {
  for (let now = 0; ; now += 1000) if (made.nextAt(now) > now) return made.nextAt(now);
}

it('a breaker takes its appointments along when time jumps back', () => {
  const { breaker: made } = breaker();
  answers(made, 'sick', 20, 1_000_000);
  made.pin('open', 30_000, 'a test', 1_000_000);
  expect([made.state(0), made.state(29_999), made.state(30_000)]).toEqual(['open', 'open', 'half-open']);
  made.start(1, 30_000);
  expect(made.room(0, 10)).toBe(0);
  expect(made.room(0, 20_009)).toBe(0);
  expect(made.room(0, 20_010)).toBe(1);
});

it('a breaker that was healed has forgotten what the dependency asked for', () => {
  const { breaker: made, told } = breaker();
  answers(made, 'sick', 20, 0, 300_000);
  made.pin('closed', 0, 'it is mended', 1000);
  answers(made, 'sick', 20, 2000);
  expect(told.at(-1)).toMatchObject({ state: 'open', forMs: 5000 });
});

describe('a half-open breaker', () => {
  const halfOpen = (change: Partial<typeof NUMBERS> = {}) => {
    const made = breaker(change);
    answers(made.breaker, 'sick', NUMBERS.least, 0);
    expect(made.breaker.state(5000)).toBe('half-open');
    return made;
  };

  it.each<[Answer, string]>([
    ['well', 'ramping'],
    ['sick', 'open'],
    ['hung', 'open'],
  ])('whose probe is %s is %s', (answer, state) => {
    const { breaker: made } = halfOpen();
    probe(made, answer, 5000);
    expect(made.state(5000)).toBe(state);
  });

  it('asks another message to probe, and takes the same one when it comes again', () => {
    const { breaker: made } = halfOpen();
    expect(made.avoids(7)).toBe(false);
    probe(made, 'sick', 5000, 7);
    expect(made.state(15_000)).toBe('half-open');
    expect(made.avoids(8)).toBe(false);
    expect(made.avoids(7)).toBe(true);
    expect(made.avoids(7)).toBe(false);
  });

  it('lets another probe when one is lost', () => {
    const { breaker: made } = halfOpen();
    made.start(1, 5000);
    expect(made.room(0, 5001)).toBe(0);
    made.left(4000, 5001);
    expect(made.room(0, 5001)).toBe(0);
    made.left(5000, 5002);
    expect(made.room(0, 5002)).toBe(1);
  });

  it('lets another probe when one stays silent, and still hears the first', () => {
    const { breaker: made } = halfOpen();
    made.start(1, 5000);
    expect(made.nextAt(6000)).toBe(25_000);
    expect(made.room(0, 24_999)).toBe(0);
    expect(made.room(0, 25_000)).toBe(1);
    made.start(2, 25_000);
    expect(made.room(0, 25_000)).toBe(0);
    made.answered('well', 5000, 26_000, MIDDLE, 0);
    expect(made.state(26_000)).toBe('ramping');
  });
});

describe('a ramping breaker', () => {
  const ramping = (change: Partial<typeof NUMBERS> = {}) => {
    const made = breaker(change);
    answers(made.breaker, 'sick', NUMBERS.least, 0);
    probe(made.breaker, 'well', 5000);
    return made;
  };

  it('gives one slot more every second, and is closed when all are given', () => {
    const { breaker: made } = ramping();
    expect([5000, 5999, 6000, 8000].map((now) => made.room(0, now))).toEqual([1, 1, 2, 4]);
    expect(made.room(3, 8000)).toBe(1);
    expect(made.room(9, 8000)).toBe(0);
    expect(made.nextAt(8000)).toBe(9000);
    expect(made.room(0, 13_999)).toBe(9);
    expect(made.room(0, 14_000)).toBe(Number.POSITIVE_INFINITY);
    expect(made.state(14_000)).toBe('closed');
  });

  it('opens again by the same rule, for longer, and not by runs of before', () => {
    const { breaker: made, told } = ramping();
    for (let i = 0; i < 100; i++) made.answered('sick', 4000, 6000, MIDDLE, 0);
    expect(made.state(6000)).toBe('ramping');
    answers(made, 'sick', 20, 7000);
    expect(made.state(7000)).toBe('open');
    expect(told.at(-1)!.forMs).toBe(10_000);
  });

  it('begins at the first time again once it was closed', () => {
    const { breaker: made, told } = ramping();
    expect(made.state(20_000)).toBe('closed');
    answers(made, 'sick', 20, 30_000);
    expect(told.at(-1)).toMatchObject({ state: 'open', forMs: 5000 });
  });

  it('tells each step once', () => {
    const { breaker: made, states } = ramping();
    made.state(20_000);
    expect(states()).toEqual(['open', 'half-open', 'ramping', 'closed']);
  });

  it('is closed at once where there is no ramp', () => {
    const { breaker: made, states } = ramping({ rampMs: 0 });
    expect(made.state(5000)).toBe('closed');
    expect(states()).toEqual(['open', 'half-open', 'ramping', 'closed']);
  });
});

describe('a breaker set by hand', () => {
  it('stays open for so long, then probes', () => {
    const { breaker: made, told } = breaker();
    made.pin('open', 60_000, 'maintenance', 0);
    answers(made, 'sick', 1, 100, 300_000);
    expect(made.room(0, 59_999)).toBe(0);
    expect(made.pinnedForMs(50_000)).toBe(10_000);
    expect(made.room(0, 60_000)).toBe(1);
    expect(told[0]).toEqual({ state: 'open', why: 'maintenance', forMs: 60_000 });
  });

  it('stays closed for so long, whatever fails, and then begins to count', () => {
    const { breaker: made } = breaker();
    made.pin('closed', 60_000, 'we know', 0);
    answers(made, 'sick', 1000, 59_999);
    expect(made.trip('a reason', 59_999, MIDDLE)).toBe(false);
    expect(made.state(59_999)).toBe('closed');
    expect(made.why(59_999)).toBe('we know');
    expect(made.why(60_000)).toBe('');
    answers(made, 'sick', 19, 60_000);
    expect(made.state(60_000)).toBe('closed');
    answers(made, 'sick', 1, 60_000);
    expect(made.state(60_000)).toBe('open');
  });

  it('stays half-open for so long, one at a time, whatever they answer', () => {
    const { breaker: made } = breaker();
    made.pin('half-open', 60_000, 'carefully', 0);
    for (const [answer, now] of [
      ['sick', 100],
      ['well', 200],
      ['hung', 300],
    ] as const)
      probe(made, answer, now);
    expect(made.state(59_999)).toBe('half-open');
    probe(made, 'well', 60_000);
    expect(made.state(60_000)).toBe('ramping');
  });

  it.each([
    ['open', 'half-open'],
    ['half-open', 'half-open'],
    ['closed', 'closed'],
  ] as const)('%s for no time lives on by itself at once', (state, then) => {
    const { breaker: made } = breaker();
    answers(made, 'sick', 20, 0);
    made.pin(state, 0, 'a nudge', 1000);
    expect(made.state(1000)).toBe(then);
    expect(made.pinnedForMs(1000)).toBe(0);
  });

  it('can be closed while it is open, and then counts afresh', () => {
    const { breaker: made } = breaker();
    answers(made, 'sick', 20, 0);
    made.pin('closed', 0, 'it is mended', 1000);
    made.answered('sick', 500, 1000, MIDDLE, 0);
    answers(made, 'sick', 19, 1000);
    expect(made.state(1000)).toBe('closed');
  });
});

it.each<[name: string, change: Partial<typeof NUMBERS>, forMs: number | undefined]>([
  ['as they are', {}, 5000],
  ['another share', { share: 0.6 }, undefined],
  ['another minimum', { least: 41 }, undefined],
  ['another time', { openMs: 7000 }, 7000],
  ['another longest time', { longestOpenMs: 3000 }, 3000],
  ['no jitter', { jitter: 0 }, 5000],
  ['a shorter window', { windowMs: 1000 }, undefined],
])('a breaker obeys its numbers: %s', (_, change, forMs) => {
  const { breaker: made, told } = breaker(change);
  answers(made, 'well', 20, 0);
  for (let i = 0; i < 20; i++) made.answered('sick', 2000, 2000, change.jitter === 0 ? 0 : MIDDLE, 0);
  const expected = change.windowMs === 1000 ? 5000 : forMs;
  expect(told[0]?.forMs).toBe(expected);
});

it('a breaker with a shorter window forgets sooner', () => {
  const opens = (windowMs: number) => {
    const { breaker: made } = breaker({ windowMs });
    answers(made, 'sick', 19, 0);
    answers(made, 'sick', 1, 2000);
    return made.state(2000);
  };
  expect([opens(10_000), opens(1000)]).toEqual(['open', 'closed']);
});

describe('whatever happens to a breaker', () => {
  type Act =
    | {
        readonly do: 'answer';
        readonly answer: Answer;
        readonly startedMsAgo: number;
        readonly count: number;
        readonly retryAfterMs: number;
      }
    | { readonly do: 'start'; readonly message: number }
    | { readonly do: 'leave'; readonly startedMsAgo: number }
    | { readonly do: 'pin'; readonly to: 'open' | 'half-open' | 'closed'; readonly forMs: number }
    | { readonly do: 'trip' };
  const act: fc.Arbitrary<Act> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        answer: fc.constantFrom<Answer>('well', 'sick', 'sick', 'hung'),
        startedMsAgo: fc.constantFrom(0, 0, 10, 60_000),
        count: fc.constantFrom(1, 1, 5, 30),
        retryAfterMs: fc.constantFrom(0, 0, 0, 1000, 86_400_000),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('start' as const), message: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('leave' as const), startedMsAgo: fc.constantFrom(0, 10, 1000) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('pin' as const),
        to: fc.constantFrom('open', 'half-open', 'closed'),
        forMs: fc.nat(600_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('trip' as const) }) },
  );
  const acts = fc.array(
    fc.record({
      act,
      afterMs: fc.oneof(fc.nat(100), fc.nat(20_000), fc.integer({ min: -50_000, max: -1 })),
      chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    }),
    { maxLength: 120 },
  );

  function perform(made: Breaker, { act, now, chance }: { act: Act; now: number; chance: number }): void {
    switch (act.do) {
      case 'answer':
        for (let i = 0; i < act.count; i++)
          made.answered(act.answer, now - act.startedMsAgo, now, chance, act.retryAfterMs);
        return;
      case 'start':
        if (made.room(0, now) > 0 && !made.avoids(act.message)) made.start(act.message, now);
        return;
      case 'leave':
        made.left(now - act.startedMsAgo, now);
        return;
      case 'pin':
        made.pin(act.to, act.forMs, 'a person', now);
        return;
      case 'trip':
        made.trip('a reason', now, chance);
        return;
    }
  }

  it('it is never stuck: healthy messages alone close it, in bounded time', () => {
    fc.assert(
      fc.property(acts, fc.boolean(), (all, onlyOneMessage) => {
        const { breaker: made } = breaker();
        let now = 0;
        for (const { act, afterMs, chance } of all) {
          now += afterMs;
          perform(made, { act, now, chance });
        }
        // A pin of ten minutes, a Retry-After of five, one silence, the longest open time and the ramp.
        const endsAt = now + 600_000 + 300_000 + 20_000 + 24_000 + FULL * 1000 + 5000;
        for (let message = 0; now < endsAt; now += 500) {
          if (made.room(0, now) <= 0) continue;
          const key = onlyOneMessage ? 1 : message++;
          if (made.avoids(key)) continue;
          made.start(key, now);
          made.answered('well', now, now, 0, 0);
        }
        expect(made.state(now)).toBe('closed');
        expect(made.room(5, now)).toBe(Number.POSITIVE_INFINITY);
      }),
      { numRuns: 1000 },
    );
  });

  it('no two probes run within one silence, but for one that was lost or set by hand', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const { breaker: made, told } = breaker();
        let now = 0;
        let probeAt: number | undefined;
        for (const { act, afterMs, chance } of all) {
          now += Math.abs(afterMs);
          const half = made.state(now) === 'half-open';
          const before = told.length;
          if (act.do === 'start' && half && made.room(0, now) > 0 && !made.avoids(act.message)) {
            if (probeAt !== undefined) expect(now - probeAt).toBeGreaterThanOrEqual(NUMBERS.silenceMs);
            made.start(act.message, now);
            probeAt = now;
            expect(made.room(0, now)).toBe(0);
            continue;
          }
          perform(made, { act, now, chance });
          const ended = act.do === 'leave' || act.do === 'pin' || made.pinnedForMs(now) > 0;
          if (ended || told.length > before || made.state(now) !== 'half-open') probeAt = undefined;
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('it gives the same answers to the same calls', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const two = [breaker(), breaker()].map(({ breaker: made, told }) => {
          let now = 0;
          for (const { act, afterMs, chance } of all) {
            now += afterMs;
            perform(made, { act, now, chance });
          }
          return told;
        });
        expect(two[0]).toEqual(two[1]);
      }),
      { numRuns: 200 },
    );
  });
});
