import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guilt, type Sight } from '../../../src/core/storm/guilt.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';

const NUMBERS = STORM.guilt;
const guilt = (change: Partial<typeof NUMBERS> = {}) => new Guilt({ ...NUMBERS, ...change });

/** Each letter is a failure of that message, `!` a success, a digit so many minutes. Answers who is charged, in order. */
function charged(plot: string, made: Guilt = guilt()): string {
  let now = 0;
  let successes = 0;
  let answer = '';
  for (const sign of plot) {
    if (sign === '!') {
      made.succeeded(now);
      successes++;
    } else if (/\d/.test(sign)) now += Number(sign) * 60_000;
    else if (made.failed(sign.charCodeAt(0), successes, 'clear', now) === 'charged') answer += sign;
  }
  return answer;
}

describe('guilt', () => {
  it.each([
    ['a lone message pays each time', 'aaaa', 'aaaa'],
    ['a message pays while only one other fails', 'abab', 'abab'],
    ['nobody pays once two others fail too', 'abcabcabc', 'ab'],
    ['a success between ends it', 'abcabc!abc', 'abab'],
    ['it is forgotten after ten minutes', 'abc99a', 'aba'],
    ['it lasts while others go on failing', 'abc4a4b4c4a4b', 'ab'],
    ['each must have failed within ten minutes', 'a6b6c', 'abc'],
    ['one that fails often counts once', 'aaaaaaaab', 'aaaaaaaab'],
    ['any two of many are enough', 'abcdefghij', 'ab'],
  ])('%s', (_, plot, who) => {
    expect(charged(plot)).toBe(who);
  });

  it.each<[name: string, change: Partial<typeof NUMBERS>, plot: string, who: string]>([
    ['fewer others', { others: 1 }, 'abc', 'a'],
    ['more others', { others: 3 }, 'abcd', 'abc'],
    ['a shorter window', { windowMs: 60_000 }, 'ab2c', 'abc'],
    ['never', { others: Number.POSITIVE_INFINITY }, 'abcabc', 'abcabc'],
  ])('obeys its numbers: %s', (_, change, plot, who) => {
    expect(charged(plot, guilt(change))).toBe(who);
  });

  it('charges nobody while the dependency is proven to be down, where it is on at all', () => {
    expect(guilt().failed(1, 0, 'proven', 0)).toBe('uncharged');
    expect(guilt({ others: Number.POSITIVE_INFINITY }).failed(1, 0, 'proven', 0)).toBe('charged');
  });

  it.each<[Sight, number, string]>([
    ['blind', 20, 'uncharged'],
    ['blind', 21, 'charged'],
    ['clear', 1_000_000, 'uncharged'],
  ])('%s, with %d successes that may not have used it, is %s', (sight, successes, verdict) => {
    const made = guilt();
    made.failed(1, 0, sight, 0);
    made.failed(2, 0, sight, 0);
    expect(made.failed(3, successes, sight, 0)).toBe(verdict);
    expect(guilt({ blindSuccesses: 30 }).failed(1, 0, sight, 0)).toBe('charged');
  });

  /** Of 100 messages so many fail once; then one more fails again and again among others that go well. Answers when it is first charged. */
  function firstCharged(failing: number, change: Partial<typeof NUMBERS> = {}, gapMs = 10): number {
    const made = guilt(change);
    let now = 1_000_000;
    for (let message = 0; message < 100; message++) {
      now += gapMs;
      if (message < failing) made.failed(message, 0, 'clear', now);
      else made.succeeded(now);
    }
    for (let time = 1; time < 100; time++) {
      made.succeeded(now);
      if (made.failed(100, 0, 'clear', now) === 'charged') return time;
    }
    return 100;
  }

  it.each([
    [0, 1],
    [1, 1],
    [2, 4],
    [5, 5],
    [10, 6],
    [30, 12],
    [45, 17],
    [80, 17],
  ])('where %d of 100 fail by chance a message is charged from its failure %d on', (failing, first) => {
    expect(firstCharged(failing)).toBe(first);
  });

  it.each<[name: string, change: Partial<typeof NUMBERS>, first: number]>([
    ['more doubt', { doubt: 1e-2 }, 6],
    ['a higher share', { share: 0.5 }, 1],
    ['more outcomes', { least: 200 }, 1],
    ['a shorter time', { shareMs: 10 }, 1],
    ['more others', { others: 40 }, 1],
    ['never', { others: Number.POSITIVE_INFINITY }, 1],
  ])('obeys its numbers where some fail by chance: %s', (_, change, first) => {
    expect(firstCharged(30, change)).toBe(first);
  });

  it('is not deceived about chance by messages that come again and again', () => {
    const made = guilt();
    for (let time = 0; time < 1_000; time++) {
      for (let well = 0; well < 2; well++) made.succeeded(time);
      made.failed(time % 3, 0, 'clear', time);
    }
    made.succeeded(1_000);
    expect(made.failed(7, 0, 'clear', 1_000)).toBe('charged');
  });

  it('forgets how often a message failed when many others failed since', () => {
    const chargedAfter = (remembered: number) => {
      const made = guilt({ remembered });
      for (let n = 0; n < 200; n++) {
        made.succeeded(0);
        made.failed(1_000, 0, 'clear', 0);
        for (let other = 0; other < 2; other++) made.failed(n * 2 + other, 0, 'clear', 0);
      }
      made.succeeded(0);
      return made.failed(1_000, 0, 'clear', 0);
    };
    expect(chargedAfter(1_024)).toBe('charged');
    expect(chargedAfter(2)).toBe('uncharged');
  });

  const messages = fc.integer({ min: 0, max: 5 });

  it('says what counting all failures since the last success would say', () => {
    const steps = fc.array(
      fc.record({ message: messages, afterMs: fc.nat(300_000), success: fc.integer({ min: 0, max: 9 }) }),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (all, others) => {
        const made = guilt({ others, share: Number.POSITIVE_INFINITY });
        const lastAt = new Map<number, number>();
        let now = 0;
        for (const { message, afterMs, success } of all) {
          now += afterMs;
          if (success === 0) {
            made.succeeded(now);
            lastAt.clear();
          }
          const failing = [...lastAt].filter(([other, at]) => other !== message && now - at <= NUMBERS.windowMs).length;
          expect(made.failed(message, 0, 'clear', now)).toBe(failing >= others ? 'uncharged' : 'charged');
          lastAt.set(message, now);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('charges a lone failure always, and in an outage nobody after the first two', () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 60 }), (all) => {
        const lone = guilt({ share: Number.POSITIVE_INFINITY });
        const outage = guilt();
        const seen = new Set<number>();
        for (const message of all) {
          lone.succeeded(0);
          expect(lone.failed(message, 0, 'clear', 0)).toBe('charged');
          const verdict = outage.failed(message, 0, 'clear', 0);
          const others = seen.size - (seen.has(message) ? 1 : 0);
          if (others >= 2) expect(verdict).toBe('uncharged');
          seen.add(message);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
