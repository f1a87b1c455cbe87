import { describe, expect, it } from 'vitest';
import type { Mechanism } from '../../../src/core/storm/numbers.ts';
import { failed } from './outcomes.ts';
import { live, sum, type Weather } from './world.ts';

const CAPACITY = 200;
const UP: Weather = { fromMs: 0, is: 'up' };

/** Trouble from second 100 to 400, at half of the capacity. */
const trouble = (is: Weather['is'], serviceMs = 100): readonly Weather[] => [
  UP,
  { fromMs: 100_000, is, serviceMs },
  { fromMs: 400_000, is: 'up' },
];
const NAIVE: readonly Mechanism[] = ['breaker', 'concurrency', 'budget', 'guilt', 'fuse', 'systemic'];

describe.each([50, 400])('in an outage of five minutes, with %d slots,', (concurrency) => {
  const history = live({ forMs: 520_000, perSecond: 100, weather: trouble('down'), gate: { concurrency } });

  it('no message goes into the quarantine', () => {
    expect(history.letters).toBe(0);
  });

  it('the dependency is hardly called', () => {
    expect(sum(history.calls, 101, 400)).toBeLessThan(1000);
  });

  it('nine tenths of its capacity are used within a minute after, and never much more', () => {
    expect(sum(history.done, 440, 460)).toBeGreaterThan(0.9 * CAPACITY * 20);
    for (let second = 400; second < 515; second++) {
      expect(sum(history.calls, second, second + 5)).toBeLessThanOrEqual(1.05 * CAPACITY * 5);
    }
  });
});

it('without storm control an outage fills the quarantine', () => {
  const { letters } = live({
    forMs: 420_000,
    perSecond: 100,
    weather: trouble('down'),
    gate: { concurrency: 50, off: NAIVE },
  });
  expect(letters).toBeGreaterThan(20_000);
});

it('nothing but the charging rule saves messages where nothing else stops or slows them', () => {
  const letters = (off: readonly Mechanism[]) =>
    live({ forMs: 200_000, perSecond: 20, weather: trouble('down'), gate: { concurrency: 20, off } }).letters;
  expect(letters(['breaker', 'budget'])).toBe(0);
  expect(letters(['breaker', 'budget', 'guilt'])).toBeGreaterThan(20);
});

it('a queue too slow for the breaker loses nothing to an outage, save what fails alone', () => {
  const weather: readonly Weather[] = [UP, { fromMs: 100_000, is: 'down' }, { fromMs: 700_000, is: 'up' }];
  const { letters, backlog } = live({ forMs: 1_100_000, perSecond: 0.1, weather, gate: { concurrency: 10 } });
  expect(letters).toBe(0);
  expect(backlog).toBeLessThan(3);
});

it('a dependency that hangs is called less than it fails', () => {
  const { calls, letters } = live({
    forMs: 420_000,
    perSecond: 100,
    weather: trouble('hanging'),
    gate: { concurrency: 400 },
  });
  expect(sum(calls, 101, 400)).toBeLessThan(200);
  expect(letters).toBe(0);
});

describe.each([50, 400])('in a brown-out, with %d slots,', (concurrency) => {
  it.each([
    [200, 0.98],
    [333, 0.98],
    [1000, 0.85],
  ])('of %d ms a call, the share of what is left of the dependency that is used is above %d', (serviceMs, share) => {
    const { done, letters } = live({
      forMs: 400_000,
      perSecond: 100,
      weather: trouble('up', serviceMs),
      gate: { concurrency },
    });
    const capacity = Math.min(100, 20_000 / serviceMs);
    expect(sum(done, 150, 400) / 250 / capacity).toBeGreaterThan(share);
    expect(letters).toBe(0);
  });
});

it('without a bound on concurrency a brown-out collapses', () => {
  const { done } = live({
    forMs: 300_000,
    perSecond: 100,
    weather: trouble('up', 333),
    gate: { concurrency: 400, off: ['concurrency', 'breaker', 'budget'] },
  });
  expect(sum(done, 150, 300) / 150).toBeLessThan(6);
});

it('a bad deploy fills no quarantine, and all is done when it is mended', () => {
  const { letters, done, backlog } = live({
    forMs: 1_500_000,
    perSecond: 20,
    weather: [UP],
    handler: (_, now) => (now < 100_000 || now > 400_000 ? { kind: 'done' } : failed('unknown', 'TypeError')),
    gate: { concurrency: 20 },
  });
  expect(letters).toBe(0);
  expect(sum(done, 0, 1500) + backlog).toBe(20 * 1500);
  expect(backlog).toBeLessThan(20);
});

it('a bad message is convicted, and its neighbours are not', () => {
  const { letters, backlog } = live({
    forMs: 300_000,
    perSecond: 20,
    weather: [UP],
    handler: (message) => (message % 400 === 7 ? failed('unknown', 'TypeError') : { kind: 'done' }),
    gate: { concurrency: 20 },
  });
  // One in twenty seconds; those of the last minute are still tried.
  expect(letters).toBeGreaterThanOrEqual(12);
  expect(letters).toBeLessThanOrEqual(15);
  expect(backlog).toBeLessThan(10);
});

it('a flood of poison is held at a hundred letters where everything is poison', () => {
  const { letters } = live({
    forMs: 600_000,
    perSecond: 50,
    weather: [UP],
    handler: () => failed('poison', 'SyntaxError'),
    gate: { concurrency: 20 },
  });
  expect(letters).toBe(100);
});
