import { ManualSystem } from 'lazaret/testing';
import { describe, expect, it } from 'vitest';
import { account, isAccountedFor } from '../../src/demo/account.ts';
import { createGoods } from '../../src/demo/goods.ts';
import { parseLedger } from '../../src/demo/ledger.ts';
import { createPace, Interrupted } from '../../src/demo/pace.ts';
import { seeded } from '../../src/demo/seeded.ts';

const book = parseLedger(
  [
    'sent a orders',
    'sent b orders',
    'sent c images',
    'started c 0',
    'started c 1',
    'effect a',
    'effect b',
    'effect b',
    '',
  ].join('\n'),
);

describe('a ledger', () => {
  it('says who was sent, started and done', () => {
    expect(book.sent.get('c')).toBe('images');
    expect(book.starts.get('c')).toEqual([0, 1]);
    expect(book.effects.get('b')).toBe(2);
  });
});

describe('the account', () => {
  it.each([
    ['everything is in one place', ['c'], [], { done: 2, quarantined: 1, queued: 0, repeated: 1 }, true],
    ['one still waits', [], ['c'], { done: 2, queued: 1 }, true],
    ['one is nowhere', [], [], { missing: ['c'] }, false],
    ['one is done, and quarantined too', ['a', 'c'], [], { twice: ['a'] }, false],
    ['one is quarantined twice', ['c', 'c'], [], { twice: ['c'] }, false],
    ['one was never sent', ['c', 'z'], [], { strangers: ['z'] }, false],
  ])('tells whether %s', (_, letters, queued, expected, holds) => {
    const where = account(book, letters, queued);
    expect(where).toMatchObject({ sent: 3, ...expected });
    expect(isAccountedFor(where)).toBe(holds);
  });
});

describe('the goods', () => {
  const texts = (seed: number) =>
    createGoods(seeded(seed))
      .orders(12)
      .map(({ id, body }) => `${id} ${Buffer.from(body!)}`);

  it('are the same in every run', () => {
    expect(texts(7)).toEqual(texts(7));
    expect(texts(7)).not.toEqual(texts(8));
  });

  it('have an id each, and every sixth order a coupon', () => {
    expect(texts(7).filter((text) => text.includes('coupon'))).toHaveLength(2);
    expect(new Set(texts(7).map((text) => text.split(' ')[0])).size).toBe(12);
  });
});

describe('the pace', () => {
  it('plays the story as fast as it is told to', async () => {
    const system = new ManualSystem();
    const pace = createPace(system, 4, new AbortController().signal);
    const startedAt = system.now();
    const paused = pace.pause(1_000).then(() => system.now() - startedAt);
    await system.advance(5_000);
    expect(await paused).toBe(250);
    expect(pace.duration(2_000)).toBe('500ms');
  });

  it('breaks off when it is interrupted, and leaves no timer behind', async () => {
    const system = new ManualSystem();
    const controller = new AbortController();
    const pace = createPace(system, 1, controller.signal);
    const paused = pace.pause(1_000);
    controller.abort();
    await expect(paused).rejects.toBeInstanceOf(Interrupted);
    await expect(pace.pause(1)).rejects.toBeInstanceOf(Interrupted);
    expect(system.pending()).toBe(0);
  });
});
