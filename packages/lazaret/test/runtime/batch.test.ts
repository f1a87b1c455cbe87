import { describe, expect, it } from 'vitest';
import { type BatchContext, Poison, type ReceivedMessage, type Schema } from '../../src/index.ts';
import { Deferred, SHAPES, scene } from './scene.ts';

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

describe('a batch', () => {
  it('acknowledges nothing that a throw did not reach', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.consumeBatch('orders', { size: 3, within: '100ms', maxAttempts: 1 }, (messages, ctx) => {
      ctx.fail(messages[0]!, new Poison('broken'));
      throw new Error('crashed at the second message');
    });
    await app.start();
    for (let n = 0; n < 3; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(1_000);
    expect(of('done')).toEqual([]);
    expect(of('quarantined').map(({ reason }) => reason)).toEqual(['poison', 'exhausted', 'exhausted']);
    await app.stop();
  });

  it('has one signal, and refuses messages of others', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    const seen: { ctx: BatchContext; messages: readonly ReceivedMessage[]; same: boolean }[] = [];
    app.consumeBatch('orders', { size: 2, within: '100ms' }, (messages, ctx) => {
      const { signal } = ctx;
      seen.push({ ctx, messages, same: signal === ctx.signal });
    });
    await app.start();
    for (let n = 0; n < 4; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(1_000);
    expect(seen.map(({ same }) => same)).toEqual([true, true]);
    const [first, second] = seen;
    expect(() => first!.ctx.of(second!.messages[0]!)).toThrow(expect.objectContaining({ code: 'LZ1204' }));
    expect(first!.ctx.of(first!.messages[1]!).idempotencyKey).toBe('m-1');
    expect(of('done')).toHaveLength(4);
    await app.stop();
  });

  it('fails each of many by name', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    app.consumeBatch('orders', { size: 200, within: '1s', storm: false }, (messages, ctx) => {
      for (const message of messages) ctx.fail(message, new Poison(`no ${message.id}`));
    });
    await app.start();
    for (let n = 0; n < 200; n++) await app.send('orders', n, { id: `m-${n}` });
    await system.advance(5_000);
    expect(new Set(of('quarantined').map(({ id, why }) => why === `Poison: no ${id}`))).toEqual(new Set([true]));
    expect(of('quarantined')).toHaveLength(200);
    await app.stop();
  });

  it.each<[concurrency: number | undefined, most: number]>([
    [undefined, 1],
    [1, 1],
    [3, 3],
  ])('with concurrency %s runs at most %d calls at once, trickle and retries included', async (concurrency, most) => {
    const { system, process, of } = scene();
    const { app } = process();
    let running = 0;
    let peak = 0;
    const failed = new Set<string | undefined>();
    const options = { size: 4, within: '500ms', jitter: 'none', concurrency } as const;
    app.consumeBatch('orders', options as { size: number; within: string }, async (messages) => {
      peak = Math.max(peak, ++running);
      await new Promise<void>((resolve) => system.after(2_000, resolve));
      running--;
      if (failed.has(messages[0]!.id)) return;
      for (const { id } of messages) failed.add(id);
      throw new Error('the first time');
    });
    await app.start();
    for (let n = 0; n < 12; n++) {
      await app.send('orders', n, { id: `m-${n}` });
      await system.advance(600);
    }
    await system.advance(120_000);
    expect(peak).toBe(most);
    expect(of('done')).toHaveLength(12);
    await app.stop();
  });

  it('an abandoned call gives its place back', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    let calls = 0;
    app.consumeBatch('orders', { size: 2, within: '100ms', timeout: '10s', maxAttempts: 1 }, () =>
      ++calls === 1 ? new Promise(() => undefined) : undefined,
    );
    await app.start();
    await app.send('orders', 1, { id: 'hangs' });
    await system.advance(1_000);
    await app.send('orders', 2, { id: 'waits' });
    await system.advance(4_000);
    expect(calls).toBe(1);
    await system.advance(12_000);
    expect(of('quarantined')).toMatchObject([{ id: 'hangs', reason: 'handler-timeout' }]);
    expect(of('done')).toMatchObject([{ id: 'waits' }]);
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });

  it('charges nobody for a wait for its call', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    const work = new Deferred();
    app.consumeBatch('orders', { size: 2, within: '100ms', timeout: '20s' }, async (messages, ctx) => {
      if (messages[0]!.id !== 'slow') return;
      await ctx.of(messages[0]!).extend('60s');
      await work.promise;
    });
    await app.start();
    await app.send('orders', 1, { id: 'slow' });
    await system.advance(1_000);
    await app.send('orders', 2, { id: 'waits' });
    await system.advance(40_000);
    expect(of('abandoned')).toEqual([]);
    expect(of('retrying')).toEqual([]);
    expect(of('released')[0]).toMatchObject({ id: 'waits', attempt: 1 });
    work.resolve();
    await system.advance(2_000);
    expect(of('done').map(({ id, attempt }) => `${id} ${attempt}`)).toEqual(['slow 1', 'waits 1']);
    await app.stop();
  });

  it('that gathers at a stop is called at once, and what would wait is given back', async () => {
    const { system, process, of, now } = scene();
    const { app } = process('1s');
    const work = new Deferred();
    const calls: (string | undefined)[][] = [];
    app.consumeBatch('orders', { size: 3, within: '60s' }, (messages) => {
      calls.push(messages.map(({ id }) => id));
      return work.promise;
    });
    await app.start();
    for (const id of ['a', 'b']) await app.send('orders', 1, { id });
    await system.advance(1_000);
    expect(calls).toEqual([]);
    const startedAt = now();
    const stopping = app.stop({ within: '25s' }).then((counts) => ({ counts, took: now() - startedAt }));
    await system.advance(2_000);
    expect(calls).toEqual([['a', 'b']]);
    work.resolve();
    await system.advance(25_000);
    expect(await stopping).toMatchObject({ counts: { finished: 2, abandoned: 0 }, took: 2_000 });
    expect(of('done')).toHaveLength(2);
  });

  it('gets what its schema made of each message, and never sees what does not fit', async () => {
    const { system, process, of } = scene();
    const { app } = process();
    const doubled: Schema<number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          typeof value === 'number' ? { value: value * 2 } : { issues: [{ message: 'no number' }] },
      },
    };
    const seen: number[] = [];
    app.consumeBatch('orders', { size: 2, within: '100ms', schema: doubled }, (messages) => {
      for (const message of messages) seen.push(message.json());
    });
    await app.start();
    for (const body of [1, 'x', 2]) await app.send('orders', body);
    await system.advance(1_000);
    expect(seen).toEqual([2, 4]);
    expect(of('quarantined')).toMatchObject([{ reason: 'schema' }]);
    await app.stop();
  });

  it.each<[string, object, unknown, string]>([
    ['isolate', { size: 2, within: '1s', isolate: 'process' }, () => {}, 'LZ1004'],
    ['no handler', { size: 2, within: '1s' }, undefined, 'LZ1004'],
    ['a within that outlasts the timeout', { size: 2, within: '20m' }, () => {}, 'LZ1004'],
    ['a within as long as the timeout', { size: 2, within: '5s', timeout: '5s' }, () => {}, 'LZ1004'],
    ['a misspelt option', { sise: 2, within: '1s' }, () => {}, 'LZ1001'],
    ['no size', { within: '1s' }, () => {}, 'LZ1002'],
    ['no options', undefined as unknown as object, () => {}, 'LZ1002'],
  ])('is refused with %s', (_, options, handler, code) => {
    const { app } = scene().process();
    expect(() => app.consumeBatch('orders', options as never, handler as never)).toThrow(
      expect.objectContaining({ code, hint: expect.any(String) }),
    );
  });
});
