import { describe, expect, it } from 'vitest';
import { Dependency, type DependencyOptions, type Weather } from '../../../src/testing/simulation/dependency.ts';

const MIDDLE: DependencyOptions = {
  servers: 2,
  serviceMs: 100,
  clientTimeoutMs: 1_000,
  service: 'even',
  // Each call takes exactly its average.
  chance: () => 0.5,
};

/** Calls at these times, and what the weather becomes at others; answers how and when each call ended. */
function ends(
  callsAt: readonly number[],
  weather: Readonly<Record<number, Weather | 'well'>> = {},
  change: Partial<DependencyOptions> = {},
): readonly string[] {
  const dependency = new Dependency({ ...MIDDLE, ...change });
  const answers = callsAt.map(() => 'none');
  let now = 0;
  for (; now <= 20_000; now++) {
    const becomes = weather[now];
    if (becomes !== undefined) dependency.become(becomes === 'well' ? undefined : becomes, now);
    if (dependency.nextAt <= now) dependency.advance(now);
    for (const [index, at] of callsAt.entries()) {
      if (at === now) dependency.call(now, (answer) => (answers[index] = `${answer} at ${now}`));
    }
  }
  expect(dependency.busy).toBe(0);
  expect(dependency.queued).toBe(0);
  return answers;
}

const times = <T>(count: number, value: T): T[] => new Array<T>(count).fill(value);

describe('a modelled dependency', () => {
  it('serves as many at a time as it has servers, first come, first served', () => {
    expect(ends([0, 0, 0, 50])).toEqual(['served at 100', 'served at 100', 'served at 200', 'served at 200']);
  });

  it.each<[name: string, change: Partial<DependencyOptions>, ends: readonly string[]]>([
    ['more servers', { servers: 3 }, ['served at 100', 'served at 100', 'served at 100']],
    ['a longer service', { serviceMs: 200 }, ['served at 200', 'served at 200', 'served at 400']],
    ['a shorter timeout', { clientTimeoutMs: 150 }, ['served at 100', 'served at 100', 'timed-out at 150']],
    ['chance', { chance: () => 0 }, ['served at 50', 'served at 50', 'served at 100']],
    ['another spread', { service: 'exponential' }, ['served at 70', 'served at 70', 'served at 139']],
  ])('obeys its options: %s', (_, change, expected) => {
    expect(ends([0, 0, 0], {}, change)).toEqual(expected);
  });

  it('works on what its client has given up', () => {
    const slow = { servers: 1, clientTimeoutMs: 250 };
    expect(ends([0, 0, 0, 0, 240], {}, slow)).toEqual([
      'served at 100',
      'served at 200',
      'timed-out at 250',
      'timed-out at 250',
      // Two that nobody waits for are before it, and each takes half as long again: more queue than a client waits for.
      'timed-out at 490',
    ]);
  });

  it('takes half as long again while its queue is longer than a client waits', () => {
    const swamped = ends(times(30, 0), {}, { servers: 1 });
    expect(swamped[0]).toBe('served at 100');
    expect(swamped[1]).toBe('served at 250');
    expect(ends(times(10, 0), {}, { servers: 1 })[1]).toBe('served at 200');
  });

  it.each<[name: string, weather: Weather, ends: readonly string[]]>([
    ['an outage', { kind: 'outage' }, ['refused at 120', 'refused at 120', 'refused at 120']],
    ['a hang', { kind: 'hang' }, ['timed-out at 1100', 'timed-out at 1100', 'timed-out at 1100']],
    ['a brown-out', { kind: 'brownout', left: 0.5 }, ['served at 200', 'served at 300', 'served at 400']],
    ['errors', { kind: 'errors', share: 0.6 }, ['failed at 200', 'failed at 200', 'failed at 300']],
    ['no errors', { kind: 'errors', share: 0.4 }, ['served at 200', 'served at 200', 'served at 300']],
  ])('suffers %s from then on, and not after it', (_, weather, expected) => {
    expect(ends([100, 100, 100, 5_000], { 99: weather, 4999: 'well' })).toEqual([...expected, 'served at 5100']);
  });

  it.each<[name: string, weather: Weather, ends: readonly string[]]>([
    ['an outage loses', { kind: 'outage' }, ['refused at 51', 'refused at 51', 'refused at 51']],
    ['a hang loses', { kind: 'hang' }, ['timed-out at 1000', 'timed-out at 1000', 'timed-out at 1000']],
    ['a brown-out ends', { kind: 'brownout', left: 0.5 }, ['served at 100', 'served at 100', 'served at 200']],
  ])('%s what is under way', (_, weather, expected) => {
    expect(ends([0, 0, 0], { 51: weather })).toEqual(expected);
  });

  it('says when something ends next', () => {
    const dependency = new Dependency(MIDDLE);
    expect(dependency.nextAt).toBe(Number.POSITIVE_INFINITY);
    dependency.call(10, () => undefined);
    expect(dependency.nextAt).toBe(110);
    expect(dependency.perSecond).toBe(20);
  });
});
