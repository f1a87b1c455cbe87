import { describe, expect, it } from 'vitest';
import { Poison } from '../../src/index.ts';
import { SHAPES, scene } from './scene.ts';

describe.each(SHAPES)('consumeBatch on a %s', (shape) => {
  it('hands over up to size messages in one call, and the rest after within', async () => {
    const { system, process, of, now } = scene({ shape });
    const { app } = process();
    const calls: { size: number; at: number }[] = [];
    app.consumeBatch(
      'orders',
      { size: 4, within: '500ms' },
      (messages) => void calls.push({ size: messages.length, at: now() }),
    );
    await app.start();
    for (let n = 0; n < 6; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(5_000);
    expect(calls.map(({ size }) => size)).toEqual([4, 2]);
    expect(calls[1]!.at - calls[0]!.at).toBeGreaterThanOrEqual(490);
    expect(of('done')).toHaveLength(6);
    await app.stop();
  });

  it('gives each message its own outcome', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    app.consumeBatch('orders', { size: 3, within: '100ms' }, (messages, ctx) => {
      ctx.fail(messages[0]!, new Poison('broken'));
      ctx.of(messages[1]!).quarantine('by hand');
    });
    await app.start();
    for (let n = 0; n < 3; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(1_000);
    expect(
      of('quarantined')
        .map(({ reason }) => reason)
        .sort(),
    ).toEqual(['manual', 'poison']);
    expect(of('done')).toHaveLength(1);
    await app.stop();
  });

  it('after a throw that names nobody all are retried, singly', async () => {
    const { system, process, of } = scene({ shape });
    const { app } = process();
    const sizes: number[] = [];
    app.consumeBatch('orders', { size: 3, within: '100ms', jitter: 'none' }, (messages) => {
      sizes.push(messages.length);
      if (messages.length > 1) throw new Error('all of it');
    });
    await app.start();
    for (let n = 0; n < 3; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(10_000);
    expect(sizes).toEqual([3, 1, 1, 1]);
    expect(of('done')).toHaveLength(3);
    await app.stop();
  });
});
