import { describe, expect, it } from 'vitest';
import {
  type Chronicle,
  type Entry,
  entryOf,
  readChronicle,
  told,
  writeChronicle,
} from '../../../src/core/storm/chronicle.ts';
import { Gate } from '../../../src/core/storm/gate.ts';

const NOW = 1_000_000;
const EMPTY: Chronicle = { processes: [], history: [] };
const VIEW = new Gate({ concurrency: 4, timeoutMs: 1_000, maxAttempts: 4 }, 0).view(0);
const OPEN = { what: 'breaker', state: 'open', dependency: 'payments', why: '20 of 20', forMs: 5_000 } as const;
const PAUSED = { what: 'paused', why: 'by hand: INC-42 (ops)', forMs: 60_000 } as const;

describe('the chronicle of a queue', () => {
  it('says how each process stands, and forgets those that fell silent or left', () => {
    const one = told(EMPTY, 'p-1', VIEW, [], NOW);
    const both = told(one, 'p-2', VIEW, [], NOW + 10_000);
    expect(both.processes.map(({ process, at }) => [process, at])).toEqual([
      ['p-1', NOW],
      ['p-2', NOW + 10_000],
    ]);
    expect(told(both, 'p-2', VIEW, [], NOW + 15_000).processes.map(({ process }) => process)).toEqual(['p-2']);
    expect(told(both, 'p-1', undefined, [], NOW + 11_000).processes.map(({ process }) => process)).toEqual(['p-2']);
  });

  it('tells what happened, when, why, for how long, and whether a person did it', () => {
    expect([entryOf(OPEN, 'p-1', NOW), entryOf(PAUSED, 'p-1', NOW)]).toEqual([
      {
        at: NOW,
        process: 'p-1',
        what: 'breaker open',
        about: 'payments',
        why: '20 of 20',
        forMs: 5_000,
        byHand: false,
      },
      { at: NOW, process: 'p-1', what: 'paused', why: 'by hand: INC-42 (ops)', forMs: 60_000, byHand: true },
    ]);
  });

  it('has one entry of an order that every process follows, and one of each of what they found by themselves', () => {
    const each = (change: typeof OPEN | typeof PAUSED) =>
      ['p-1', 'p-2', 'p-3'].reduce(
        (known, process, n) => told(known, process, VIEW, [entryOf(change, process, NOW + n * 500)], NOW),
        EMPTY,
      );
    expect(each(PAUSED).history).toHaveLength(1);
    expect(each(OPEN).history).toHaveLength(3);
  });

  it('keeps the last 50 entries, and 32 processes', () => {
    const many = Array.from({ length: 70 }, (_, n): Entry => entryOf({ ...OPEN, why: `${n}` }, 'p-1', NOW));
    expect(told(EMPTY, 'p-1', VIEW, many, NOW).history.map(({ why }) => why)).toEqual(
      Array.from({ length: 50 }, (_, n) => `${n + 20}`),
    );
    const crowd = Array.from({ length: 40 }, (_, n) => `p-${n}`);
    expect(crowd.reduce((known, one) => told(known, one, VIEW, [], NOW), EMPTY).processes).toHaveLength(32);
  });

  it('is read as it was written', () => {
    const chronicle = told(EMPTY, 'p-1', VIEW, [entryOf(OPEN, 'p-1', NOW)], NOW);
    expect(readChronicle(writeChronicle(chronicle))).toEqual(chronicle);
    expect(readChronicle(null)).toEqual(EMPTY);
  });

  const standing = { process: 'p', at: NOW, view: VIEW };
  const entry = entryOf(OPEN, 'p', NOW);
  it.each<[string, unknown]>([
    ['no JSON', '['],
    ['something else', '7'],
    ['lists of something else', { processes: [1, null], history: ['a'] }],
    ['no view', { processes: [{ ...standing, view: null }] }],
    ['a state that is none', { processes: [{ ...standing, view: { ...VIEW, pause: { ...VIEW.pause, state: 'x' } } }] }],
    ['a scope without a limit', { processes: [{ ...standing, view: { ...VIEW, scopes: [{}] } }] }],
    [
      'a dependency that is no name',
      { processes: [{ ...standing, view: { ...VIEW, scopes: [{ ...VIEW.scopes[0], dependency: {} }] } }] },
    ],
    ['a time that is text', { processes: [{ ...standing, at: 'now' }] }],
    ['an entry without a reason', { history: [{ ...entry, why: undefined }] }],
    ['an entry about something else', { history: [{ ...entry, about: 3 }] }],
    ['an entry for a text', { history: [{ ...entry, forMs: 'long' }] }],
  ])('is empty where it says %s', (_, value) => {
    expect(readChronicle(typeof value === 'string' ? value : JSON.stringify(value))).toEqual(EMPTY);
  });
});
