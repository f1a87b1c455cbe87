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
      made.succeeded();
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

  const messages = fc.integer({ min: 0, max: 5 });

  it('says what counting all failures since the last success would say', () => {
    const steps = fc.array(
      fc.record({ message: messages, afterMs: fc.nat(300_000), success: fc.integer({ min: 0, max: 9 }) }),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (all, others) => {
        const made = guilt({ others });
        const lastAt = new Map<number, number>();
        let now = 0;
        for (const { message, afterMs, success } of all) {
          now += afterMs;
          if (success === 0) {
            made.succeeded();
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
        const lone = guilt();
        const outage = guilt();
        const seen = new Set<number>();
        for (const message of all) {
          lone.succeeded();
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
