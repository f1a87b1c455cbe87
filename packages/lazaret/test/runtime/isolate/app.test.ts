import { afterEach, describe, expect, it } from 'vitest';
import { memory } from '../../../src/drivers/memory/index.ts';
import type { App, EventName, Events, IsolatedQueueOptions } from '../../../src/index.ts';
import { lazaret } from '../../../src/index.ts';
import { HANDLERS } from './handlers.ts';
import { processes } from './processes.ts';

/** An app whose handler runs in real children, over a broker in this process. */

const apps: App[] = [];

function appWith(handler: URL, options: Partial<IsolatedQueueOptions> = {}) {
  const app: App = lazaret({ broker: memory(), logger: false, wait: '100ms' });
  apps.push(app);
  app.consume('orders', { isolate: 'process', handler, concurrency: 2, ...options });
  return {
    app,
    send: (...acts: readonly string[]) =>
      Promise.all(acts.map((act, at) => app.send('orders', new TextEncoder().encode(act), { id: `${at} ${act}` }))),
  };
}

/** The first `count` events of a name. */
function heard<E extends EventName>(app: App, name: E, count: number): Promise<Events[E][]> {
  const events: Events[E][] = [];
  return new Promise((resolve) => {
    app.on(name, (event) => {
      events.push(event);
      if (events.length === count) resolve(events);
    });
  });
}

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop({ within: '2s' })));
  expect(processes()).toEqual([]);
});

describe('an app with an isolated handler', () => {
  it('quarantines what kills its process, and nothing else', async () => {
    const { app, send } = appWith(HANDLERS.acts);
    const dead = heard(app, 'quarantined', 1);
    const done = heard(app, 'done', 6);
    await send('returns', 'returns', 'exits', 'returns', 'skips', 'returns', 'returns');
    await app.start();
    expect(await dead).toMatchObject([
      { id: '2 exits', reason: 'crash', why: expect.stringContaining('exit code 137') },
    ]);
    expect((await done).map(({ id }) => id)).not.toContain('2 exits');
  });

  it('ends a loop at its deadline: it is a timeout, and no crash', async () => {
    const { app, send } = appWith(HANDLERS.acts, { timeout: '300ms', visibilityTimeout: '200ms', maxAttempts: 1 });
    const dead = heard(app, 'quarantined', 1);
    const done = heard(app, 'done', 2);
    await send('loops', 'returns', 'returns');
    await app.start();
    expect(await dead).toMatchObject([{ id: '0 loops', reason: 'handler-timeout' }]);
    await done;
    await app.stop({ within: '2s' });
    expect(processes()).toEqual([]);
  });

  it('does not start with a handler that does not load, and costs no message anything', async () => {
    const { app, send } = appWith(HANDLERS.broken);
    const quarantined: unknown[] = [];
    app.on('quarantined', (event) => quarantined.push(event));
    await send('returns');
    await expect(app.start()).rejects.toMatchObject({ code: 'LZ1201' });
    expect(quarantined).toEqual([]);
  });

  it('gives back uncharged what still runs at its stop, and leaves no process', async () => {
    const { app, send } = appWith(HANDLERS.acts);
    const released = heard(app, 'released', 2);
    await send('loops', 'neverEnds');
    await app.start();
    while (app.health().queues.orders!.running < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await app.stop({ within: '1s' })).toMatchObject({ released: 2, unsettled: 0 });
    expect(await released).toMatchObject([
      { attempt: 1, why: 'shutdown' },
      { attempt: 1, why: 'shutdown' },
    ]);
    expect(processes()).toEqual([]);
  });
});
