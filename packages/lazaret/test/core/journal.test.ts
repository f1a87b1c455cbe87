import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beginStart,
  type Ending,
  endStart,
  type History,
  type JournalRecord,
  type Sight,
  sightOf,
} from '../../src/core/journal.ts';

const FIRST: Sight = { carried: 1, mark: '', first: true };
const AGAIN: Sight = { carried: 1, mark: '', first: false };
const copy = (carried: number): Sight => ({ carried, mark: '', first: false });
const PUT_BACK: Sight = { carried: 1, mark: 'letter', first: false };

type Step =
  | readonly [owner: string, sight: Sight, how?: 'alone' | 'open']
  | readonly [owner: string, as: Ending, sight?: Sight]
  | readonly ['dies', string];

/** One message's record through `steps`; what the last start was told. Each owner names the token of its own last start. */
function told(steps: readonly Step[]): Pick<History, 'attempt' | 'strikes' | 'begun' | 'ended'> | undefined {
  let record: JournalRecord | undefined;
  let last: History | undefined;
  const dead = new Set<string>();
  const tokens = new Map<string, number | undefined>();
  const isAlive = (owner: string) => !dead.has(owner);
  for (const [owner, what, how] of steps) {
    if (owner === 'dies') dead.add(what as string);
    else if (typeof what === 'string') {
      const end = { ...((how as Sight | undefined) ?? AGAIN), owner, token: tokens.get(owner), as: what as Ending };
      record = endStart(record, end, isAlive);
    } else {
      const start = { ...what, owner, alone: how === 'alone', open: how === 'open' };
      ({ record, history: last } = beginStart(record, start, isAlive));
      if (last.begun) tokens.set(owner, last.token);
    }
  }
  return last && { attempt: last.attempt, strikes: last.strikes, begun: last.begun, ended: last.ended };
}

const run = (attempt: number, strikes = 0) => ({ attempt, strikes, begun: true, ended: false });
const not = (attempt: number, strikes = 0) => ({ attempt, strikes, begun: false, ended: false });
const leftover = (attempt: number) => ({ attempt, strikes: 0, begun: false, ended: true });

describe('a start', () => {
  it.each<[string, readonly Step[], object]>([
    ['of what is new is begun', [['a', FIRST]], run(1)],
    ['of a copy whose past is not known goes by what it carries', [['a', copy(3)]], run(3)],
    [
      'of what a living owner has open is busy',
      [
        ['a', FIRST],
        ['b', AGAIN],
      ],
      not(1),
    ],
    [
      'of what a dead owner had open is a strike',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
      ],
      run(1, 1),
    ],
    [
      'of what its own owner had open has cost nothing',
      [
        ['a', FIRST],
        ['a', AGAIN],
      ],
      run(1),
    ],
    [
      'of what its own owner still has open is busy',
      [
        ['a', FIRST],
        ['a', AGAIN, 'open'],
      ],
      not(1),
    ],
    [
      'after two strikes waits',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['dies', 'b'],
        ['c', AGAIN],
      ],
      not(1, 2),
    ],
    [
      'after two strikes is begun alone',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['dies', 'b'],
        ['c', AGAIN, 'alone'],
      ],
      run(1, 2),
    ],
    [
      'after four strikes is not begun, alone or not',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['dies', 'b'],
        ['c', AGAIN, 'alone'],
        ['dies', 'c'],
        ['d', AGAIN, 'alone'],
        ['dies', 'd'],
        ['e', AGAIN, 'alone'],
      ],
      not(1, 4),
    ],
    [
      'that waits adds no strike when its process dies',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['dies', 'b'],
        ['c', AGAIN],
        ['dies', 'c'],
        ['d', AGAIN],
      ],
      not(1, 2),
    ],
    [
      'after a failure that is charged has no strikes left',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['b', 'charged'],
        ['c', AGAIN],
      ],
      run(2),
    ],
    [
      'after a release is what it was',
      [
        ['a', FIRST],
        ['a', 'released'],
        ['b', AGAIN],
      ],
      run(1),
    ],
    [
      'after a release keeps the strikes of before',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['b', 'released'],
        ['c', AGAIN],
      ],
      run(1, 1),
    ],
    [
      'after an ack is a leftover',
      [
        ['a', FIRST],
        ['a', 'acked'],
        ['b', AGAIN],
      ],
      leftover(1),
    ],
    [
      'of a late copy after an ack is a leftover',
      [
        ['a', FIRST],
        ['a', 'acked'],
        ['b', copy(2)],
      ],
      leftover(1),
    ],
    [
      'of a first delivery after an ack is begun',
      [
        ['a', FIRST],
        ['a', 'acked'],
        ['b', FIRST],
      ],
      run(1),
    ],
    [
      'after a retry by copy is a leftover',
      [
        ['a', FIRST],
        ['a', 'retried'],
        ['b', AGAIN],
      ],
      leftover(1),
    ],
    [
      'of the copy is the next attempt',
      [
        ['a', FIRST],
        ['a', 'retried'],
        ['b', copy(2)],
      ],
      run(2),
    ],
    [
      'of a copy counts what was charged here before it was made',
      [
        ['a', FIRST],
        ['a', 'charged'],
        ['a', AGAIN],
        ['a', 'retried'],
        ['b', copy(3)],
      ],
      run(3),
    ],
    [
      'of a delivery that failed while it was held is no leftover when its process died',
      [
        ['a', FIRST],
        ['a', 'charged'],
        ['a', AGAIN],
        ['dies', 'a'],
        ['b', AGAIN],
      ],
      run(2, 1),
    ],
    [
      'of what a copy left behind is a leftover',
      [
        ['a', FIRST],
        ['b', copy(2)],
        ['dies', 'a'],
        ['b', copy(2)],
        ['c', AGAIN],
      ],
      not(2),
    ],
    [
      'of a letter that is put back is begun',
      [
        ['a', FIRST],
        ['a', 'dead-lettered'],
        ['b', PUT_BACK],
      ],
      run(1),
    ],
    [
      'of a letter that is put back before its end is known waits for it',
      [
        ['a', FIRST],
        ['b', PUT_BACK],
      ],
      not(1),
    ],
    [
      'of what was left of the life before is a leftover',
      [
        ['a', FIRST],
        ['a', 'dead-lettered'],
        ['b', PUT_BACK],
        ['b', 'released'],
        ['c', AGAIN],
      ],
      leftover(1),
    ],
    [
      'of a convicted message that is put back is begun without its strikes',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['dies', 'b'],
        ['c', AGAIN],
        ['c', 'dead-lettered'],
        ['d', PUT_BACK],
      ],
      run(1),
    ],
    [
      'of a second message of one id is begun although the first was acked meanwhile',
      [
        ['a', FIRST],
        ['b', FIRST],
        ['a', 'acked'],
        ['b', AGAIN],
      ],
      run(1),
    ],
    [
      'is not closed by the late end of another',
      [
        ['a', FIRST],
        ['dies', 'a'],
        ['b', AGAIN],
        ['a', 'acked'],
        ['c', AGAIN],
      ],
      not(1, 1),
    ],
  ])('%s', (_, steps, history) => {
    expect(told(steps)).toEqual(history);
  });
});

describe('what a delivery says about itself', () => {
  it.each([
    [[], 1, { carried: 1, mark: '', first: true }],
    [[], undefined, { carried: 1, mark: '', first: true }],
    [[], 2, { carried: 1, mark: '', first: false }],
    [[['lazaret-attempt', '3']], 1, { carried: 3, mark: '', first: false }],
    [[['lazaret-attempt', 'many']], 1, { carried: 1_000_000, mark: '', first: false }],
  ] as const)('of headers %j and %s deliveries', (headers, deliveries, sight) => {
    expect(sightOf(headers, deliveries)).toEqual(sight);
  });

  it('tells lives apart by what putting back and replaying leave on it', () => {
    const marks = [
      [['lazaret-evidence', '{"deadAt":1}']],
      [['lazaret-evidence', '{"deadAt":2}']],
      [
        ['lazaret-replay', 'r-1'],
        ['lazaret-evidence', '{"deadAt":2}'],
      ],
    ].map((headers) => sightOf(headers as [string, string][], 2).mark);
    expect(new Set([...marks, '']).size).toBe(4);
  });
});

// --- a model: a broker with one message, whose truth is known ----------------------------------------------------------

/** What the message has been through, told apart from the record. */
interface Truth {
  failures: number;
  deaths: number;
  openBy: string | undefined;
  done: boolean;
}

const owners = ['a', 'b', 'c'];
const command = fc.record({
  owner: fc.constantFrom(...owners),
  does: fc.constantFrom('begins', 'begins alone', 'charges', 'releases', 'acks', 'dies', 'ends late'),
});

describe('a message that is hidden between its attempts', () => {
  it('is charged for failures alone, struck for deaths alone, and run by one at a time', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        let record: JournalRecord | undefined;
        const truth: Truth = { failures: 0, deaths: 0, openBy: undefined, done: false };
        const tokens = new Map<string, number>();
        const stale: { owner: string; token: number }[] = [];
        let lives = 0;
        /** A dead process comes back under another name. */
        const names = new Map(owners.map((owner) => [owner, owner]));
        const alive = new Set(names.values());
        const isAlive = (owner: string) => alive.has(owner);

        for (const { owner: slot, does } of commands) {
          const owner = names.get(slot)!;
          const end = (as: Ending) => {
            if (truth.openBy !== owner) return false;
            record = endStart(record, { ...AGAIN, owner, token: tokens.get(owner), as }, isAlive);
            stale.push({ owner, token: tokens.get(owner)! });
            truth.openBy = undefined;
            return true;
          };
          switch (does) {
            case 'begins':
            case 'begins alone': {
              const alone = does === 'begins alone';
              const isOpen = truth.openBy !== undefined;
              const start = { ...AGAIN, owner, alone, open: truth.openBy === owner };
              const answer = beginStart(record, start, isAlive);
              record = answer.record;
              const { attempt, strikes, begun, ended, token } = answer.history;
              if (truth.done) expect({ begun, ended }).toEqual({ begun: false, ended: true });
              else if (isOpen) expect({ begun, ended }).toEqual({ begun: false, ended: false });
              else {
                expect({ attempt, strikes }).toEqual({ attempt: truth.failures + 1, strikes: truth.deaths });
                expect({ begun, ended }).toEqual({ begun: truth.deaths < (alone ? 4 : 2), ended: false });
              }
              if (begun) {
                truth.openBy = owner;
                tokens.set(owner, token!);
              }
              break;
            }
            case 'charges':
              if (end('charged')) {
                truth.failures++;
                truth.deaths = 0;
              }
              break;
            case 'releases':
              end('released');
              break;
            case 'acks':
              if (end('acked')) truth.done = true;
              break;
            case 'dies':
              if (truth.openBy === owner) {
                truth.openBy = undefined;
                truth.deaths++;
              }
              alive.delete(owner);
              names.set(slot, `${slot}${++lives}`);
              alive.add(names.get(slot)!);
              break;
            case 'ends late':
              for (const { owner: late, token } of stale) {
                const before = record;
                const isOthers = token !== record?.token;
                record = endStart(record, { ...AGAIN, owner: late, token, as: 'charged' }, isAlive);
                if (isOthers || truth.openBy === undefined) expect(record).toBe(before);
              }
          }
          const open = record?.openBy;
          expect(open !== undefined && isAlive(open) ? open : undefined).toBe(truth.openBy);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Copies of one message: what the broker holds, and what it brings again although it was settled. */
describe('a message that is retried by copy', () => {
  it('is never acked unrun while nobody has finished it, whatever comes again and dies', () => {
    const step = fc.record({
      which: fc.nat({ max: 5 }),
      ends: fc.constantFrom<'acked' | 'retried' | 'charged' | 'released' | 'dies' | 'copies and dies'>(
        'acked',
        'retried',
        'charged',
        'released',
        'dies',
        'copies and dies',
      ),
      ackArrives: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let record: JournalRecord | undefined;
        let finished = false;
        let names = 0;
        const dead = new Set<string>();
        const isAlive = (owner: string) => !dead.has(owner);
        const held: { carried: number; deliveries: number }[] = [{ carried: 1, deliveries: 0 }];
        for (const { which, ends, ackArrives } of steps) {
          if (held.length === 0) break;
          const message = held[which % held.length]!;
          message.deliveries++;
          const owner = `o${names++}`;
          const first = message.carried === 1 && message.deliveries === 1;
          const sight = { carried: message.carried, mark: '', first };
          const drop = () => void held.splice(held.indexOf(message), 1);
          const answer = beginStart(record, { ...sight, owner, alone: true, open: false }, isAlive);
          record = answer.record;
          const { begun, ended, attempt, token } = answer.history;
          if (ended) {
            // What is acked unrun is not needed: it was done, or another copy of it is there.
            drop();
            expect(finished || held.length > 0).toBe(true);
            continue;
          }
          if (!begun) {
            expect(answer.history.strikes).toBe(4);
            record = endStart(record, { ...sight, owner, token: undefined, as: 'dead-lettered' }, isAlive);
            finished = true;
            drop();
            continue;
          }
          const end = (as: Ending) => {
            record = endStart(record, { ...sight, owner, token, as }, isAlive);
          };
          switch (ends) {
            case 'acked':
              finished = true;
              end('acked');
              if (ackArrives) drop();
              break;
            case 'retried':
              held.push({ carried: attempt + 1, deliveries: 0 });
              if (ackArrives) drop();
              end('retried');
              break;
            case 'copies and dies':
              held.push({ carried: attempt + 1, deliveries: 0 });
              if (ackArrives) drop();
              dead.add(owner);
              break;
            case 'charged':
            case 'released':
              end(ends);
              break;
            case 'dies':
              dead.add(owner);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
