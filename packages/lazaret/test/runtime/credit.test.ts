import { describe, expect, it } from 'vitest';
import { over, scene } from './scene.ts';

describe('the credit of a broker that pushes', () => {
  it('stays at nothing once the consumer stops, whatever was to be said of it later', async () => {
    const stage = scene({ shape: 'channel' });
    const credits: number[] = [];
    const { app } = stage.process('5s', (broker) =>
      over(broker, {
        subscribe: async (queue, options) => {
          const subscription = await broker.subscribe(queue, options);
          return over(subscription, {
            credit: async (n) => {
              credits.push(n);
              await subscription.credit?.(n);
            },
          });
        },
      }),
    );
    app.consume('orders', () => new Promise<void>((done) => void stage.system.after(5_000, done)));
    await stage.run(app.start());
    await app.send('orders', 1, { id: 'm-1' });
    await stage.system.advance(100);
    // Less is said at once, more only after a second: the stop comes in between.
    await app.pause('orders', { for: '10m', why: 'a test' });
    await stage.system.advance(100);
    expect(credits).toEqual([0]);
    await app.resume('orders', { why: 'a test' });
    await stage.system.advance(100);
    const stopped = app.stop({ within: '20s' });
    await stage.system.advance(20_000);
    await stopped;
    expect(credits.every((credit) => credit === 0)).toBe(true);
  });
});
