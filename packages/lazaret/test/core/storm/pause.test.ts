import { describe, expect, it } from 'vitest';
import { Changes, type StormChange } from '../../../src/core/storm/changes.ts';
import { STORM } from '../../../src/core/storm/numbers.ts';
import { Pause } from '../../../src/core/storm/pause.ts';

const MIDDLE = 0.5;

function paused() {
  const told: StormChange[] = [];
  const pause = new Pause(STORM.pause, 10, (change) => told.push(change));
  pause.tripFor('v1:a', 'nearly all fail', 0, MIDDLE);
  return { pause, told };
}

describe('a pause', () => {
  it('is for what it began with, whatever else floods meanwhile', () => {
    const { pause, told } = paused();
    pause.tripFor('v1:b', 'nearly all fail otherwise', 1000, MIDDLE);
    expect([pause.isFor('v1:a', 1000), pause.isFor('v1:b', 1000), pause.isFor(undefined, 1000)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(told).toEqual([{ what: 'paused', why: 'nearly all fail', forMs: 20_000, fingerprint: 'v1:a' }]);
  });

  it.each([
    ['fails in its way', 'well', 'v1:a', 'open'],
    ['fails in another', 'well', 'v1:b', 'ramping'],
    ['fails on a dependency', 'sick', undefined, 'ramping'],
    ['succeeds', 'well', undefined, 'ramping'],
    ['passes its deadline', 'hung', 'v1:b', 'open'],
  ] as const)('whose probe %s', (_, answer, print, state) => {
    const { pause } = paused();
    expect(pause.state(20_000)).toBe('half-open');
    pause.breaker.start(1, 20_000);
    pause.answered(answer, print, 20_000, 20_001, MIDDLE);
    expect(pause.state(20_001)).toBe(state);
  });

  it('tells once that it is over, and is then for nothing', () => {
    const { pause, told } = paused();
    pause.breaker.start(1, 20_000);
    pause.answered('well', undefined, 20_000, 20_000, MIDDLE);
    expect(pause.isFor('v1:a', 20_000)).toBe(true);
    expect(pause.isFor('v1:a', 60_000)).toBe(false);
    expect(pause.fingerprint).toBeUndefined();
    expect(told.map(({ what }) => what)).toEqual(['paused', 'resumed']);
  });

  it('set by hand is for nothing, and says why', () => {
    const { pause, told } = paused();
    pause.set(60_000, 'a migration', 1000);
    expect(pause.isFor('v1:a', 1000)).toBe(false);
    expect(told.at(-1)).toEqual({ what: 'paused', why: 'a migration', forMs: 60_000 });
  });
});

describe('changes', () => {
  it('are taken once, in order, and of too many the newest are kept', () => {
    const changes = new Changes();
    for (let i = 0; i < 1000; i++) changes.add({ what: 'resumed', why: `${i}` });
    const taken = changes.take();
    expect(taken).toHaveLength(64);
    expect([taken[0], taken[63]]).toEqual([
      { what: 'resumed', why: '936' },
      { what: 'resumed', why: '999' },
    ]);
    expect(changes.take()).toEqual([]);
  });
});
