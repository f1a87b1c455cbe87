import { describe, expect, it } from 'vitest';
import {
  meetBreaker,
  type OwnBreaker,
  readSharedBreakers,
  type SharedBreaker,
  withRecord,
  writeSharedBreakers,
} from '../../../src/core/storm/shared-breakers.ts';

const NOW = 1_700_000_000_000;
const PROBE_MS = 20_000;
const ME = 'me';

const own = (change: Partial<OwnBreaker>): OwnBreaker => ({
  dependency: 'payments',
  state: 'closed',
  openedAt: Number.NEGATIVE_INFINITY,
  sinceAt: Number.NEGATIVE_INFINITY,
  untilAt: Number.NEGATIVE_INFINITY,
  openings: 0,
  why: '',
  pinned: false,
  ...change,
});
const CLOSED = own({});
const OPEN = own({
  state: 'open',
  openedAt: NOW - 1_000,
  sinceAt: NOW - 1_000,
  untilAt: NOW + 4_000,
  openings: 1,
  why: 'w',
});
const HALF_OPEN = own({ ...OPEN, state: 'half-open', openedAt: NOW - 5_000, sinceAt: NOW - 10, untilAt: NOW - 10 });
const RAMPING = own({ ...HALF_OPEN, state: 'ramping', sinceAt: NOW - 5 });

const theirs = (change: Partial<SharedBreaker> = {}): SharedBreaker => ({
  dependency: 'payments',
  state: 'open',
  at: NOW - 1_000,
  untilAt: NOW + 4_000,
  openings: 1,
  why: '12 of 20 failed',
  by: 'other',
  ...change,
});
const OVER = theirs({ at: NOW - 5_000, untilAt: NOW - 10 });
const RAMP = theirs({ state: 'ramping', at: NOW - 20, untilAt: NOW + 20_000 });
const probedBy = (by: string, untilAt = NOW + 1_000) => ({ ...OVER, probe: { by, untilAt } });

const meet = (found: SharedBreaker | undefined, breaker: OwnBreaker) => {
  const { record, lesson } = meetBreaker(found, breaker, ME, PROBE_MS, NOW);
  const kept = record === undefined ? 'none' : record === found ? 'kept' : `${record.state} by ${record.by}`;
  return [kept, lesson.learn] as const;
};

describe('breakers of several processes', () => {
  it.each<[string, SharedBreaker | undefined, OwnBreaker, string, string]>([
    ['closed and alone, it says nothing', undefined, CLOSED, 'none', 'nothing'],
    ['closed, it follows one that is open', theirs(), CLOSED, 'kept', 'open'],
    ['closed, it waits with those that wait for a probe', OVER, CLOSED, 'kept', 'open'],
    ['closed, it needs no ramp', RAMP, CLOSED, 'kept', 'nothing'],
    ['closed, it forgets what nobody renewed', theirs({ untilAt: NOW - 30_000 }), CLOSED, 'none', 'nothing'],
    [
      'closed after its own probe, it says that it was healthy',
      probedBy(ME),
      own({ sinceAt: NOW - 1 }),
      'ramping by me',
      'nothing',
    ],
    ['open, it tells the others', undefined, OPEN, 'open by me', 'nothing'],
    ['open for longer, it tells the others', theirs({ untilAt: NOW + 3_000 }), OPEN, 'open by me', 'nothing'],
    ['open for as long, it says nothing', theirs(), OPEN, 'kept', 'nothing'],
    ['open for less long, it follows', theirs({ untilAt: NOW + 9_000 }), OPEN, 'kept', 'open'],
    ['open since before a healthy probe, it ramps', RAMP, OPEN, 'kept', 'ramp'],
    [
      'open since after a healthy probe, it tells the others',
      { ...RAMP, at: NOW - 2_000 },
      OPEN,
      'open by me',
      'nothing',
    ],
    ['half-open and alone, it claims the probe', undefined, HALF_OPEN, 'open by me', 'probe'],
    ['half-open, it claims the probe that nobody has', OVER, HALF_OPEN, 'open by other', 'probe'],
    ['half-open, it leaves the probe to who has it', probedBy('other'), HALF_OPEN, 'kept', 'nothing'],
    ['half-open, it goes on with its own', probedBy(ME), HALF_OPEN, 'kept', 'probe'],
    [
      'half-open, it claims a probe whose time is over',
      probedBy('other', NOW - 1),
      HALF_OPEN,
      'open by other',
      'probe',
    ],
    ['half-open, it follows an unhealthy probe', theirs(), HALF_OPEN, 'kept', 'open'],
    ['half-open, it follows a healthy one', RAMP, HALF_OPEN, 'kept', 'ramp'],
    ['ramping after its own probe, it tells the others', probedBy(ME), RAMPING, 'ramping by me', 'nothing'],
    ['ramping, it follows one that opened since', theirs({ at: NOW - 1 }), RAMPING, 'kept', 'open'],
    ['ramping alone, it says nothing', undefined, RAMPING, 'none', 'nothing'],
    ['ramping with the others, it says nothing', RAMP, RAMPING, 'kept', 'nothing'],
    [
      'set open by a person, it neither teaches nor learns',
      theirs({ untilAt: NOW + 9_000 }),
      { ...OPEN, pinned: true },
      'kept',
      'nothing',
    ],
    ['closed by a person, it takes back what was found out', theirs(), { ...CLOSED, pinned: true }, 'none', 'nothing'],
  ])('%s', (_, found, breaker, record, lesson) => {
    expect(meet(found, breaker)).toEqual([record, lesson]);
  });

  it('claims for so long', () => {
    expect(meetBreaker(OVER, HALF_OPEN, ME, PROBE_MS, NOW)).toMatchObject({
      record: { openings: 1, probe: { by: ME, untilAt: NOW + PROBE_MS } },
      lesson: { untilAt: NOW + PROBE_MS },
    });
  });

  it('are kept apart by dependency, with any name, and read back', () => {
    const one = theirs({ dependency: '__proto__' });
    const { dependency: _, ...queue } = theirs();
    const records = withRecord(withRecord(withRecord([], '__proto__', one), undefined, queue), '__proto__', one);
    expect(records).toEqual([queue, one]);
    expect(readSharedBreakers(writeSharedBreakers(records))).toEqual(records);
    expect(writeSharedBreakers(withRecord([one], '__proto__', undefined))).toBeNull();
    expect(readSharedBreakers(`[{"state":"ajar"}, ${JSON.stringify(one)}, {"state":"open","at":null}]`)).toEqual([one]);
    expect(readSharedBreakers('nonsense')).toEqual([]);
  });
});
