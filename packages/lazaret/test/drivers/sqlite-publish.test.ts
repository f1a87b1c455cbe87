import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import { CAPABILITIES } from '../../src/drivers/sqlite/capabilities.ts';
import type { OutgoingMessage } from '../../src/ports/broker.ts';
import { bury, evidenceFor, message, one, pull, QUEUE, Scene, subscribe, textOf } from './sqlite-scene.ts';

const HOUR_MS = 3_600_000;

let scene: Scene;
let broker: SqliteBroker;
beforeEach(async () => {
  scene = new Scene();
  broker = await scene.broker();
});
afterEach(() => scene.end());

describe('publishing', () => {
  it('answers for each message by itself', async () => {
    const unfit = [
      { body: 'text' },
      { body: null, id: 7 },
      { body: null, key: {} },
      { body: null, headers: 'x' },
      { body: null, headers: [['a']] },
      { body: null, headers: [[1, 'a']] },
      { body: null, headers: [['a', 'x'.repeat(CAPABILITIES.headerBudgetBytes)]] },
    ] as unknown as OutgoingMessage[];
    const results = await broker.publish(QUEUE, [message('a'), ...unfit, message('b')]);
    const refused = expect.objectContaining({ code: 'LZ1119' });
    expect(results).toEqual(['done', ...unfit.map(() => refused), 'done']);
    expect((await pull(await subscribe(broker))).map(textOf)).toEqual(['a', 'b']);
  });

  it.each([1, 19, 20, 21, 60])('stores %i messages in the order in which they were given', async (count) => {
    const texts = Array.from({ length: count }, (_, i) => String(i));
    await broker.publish(
      QUEUE,
      texts.map((text) => message(text)),
    );
    expect((await pull(await subscribe(broker))).map(textOf)).toEqual(texts);
  });

  it('gives an id to a message that has none, and keeps null apart from empty', async () => {
    await broker.publish(QUEUE, [
      { body: null },
      { body: new Uint8Array(0), id: '' },
      { body: null, headers: [['lazaret-id', 'carried']] },
    ]);
    const [none, empty, carried] = (await pull(await subscribe(broker))).map((delivery) => delivery.message);
    expect(none).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), body: null, headers: [] });
    expect(empty).toMatchObject({ id: '', body: new Uint8Array(0) });
    expect(carried).toMatchObject({ id: 'carried', headers: [['lazaret-id', 'carried']] });
  });

  it('reads what a copy says about its past', async () => {
    const now = scene.system.now();
    const headers = [
      ['lazaret-first-seen', String(now - 5_000)],
      ['lazaret-not-before', String(now + 7_000)],
    ] as const;
    await broker.publish(QUEUE, [message('a', { headers })]);
    expect(await one(await subscribe(broker))).toMatchObject({ firstSeenAt: now - 5_000, notBefore: now + 7_000 });
  });

  it.each([[-1], [Number.NaN], [CAPABILITIES.maxPublishDelayMs + 1]])('refuses a delay of %d ms', async (delayMs) => {
    await expect(broker.publish(QUEUE, [message('a')], { delayMs })).rejects.toMatchObject({ code: 'LZ1003' });
  });

  it.each([[''], ['x'.repeat(256)], [7 as unknown as string]])('refuses the queue name %j', async (name) => {
    await expect(broker.publish(name, [message('a')])).rejects.toMatchObject({ code: 'LZ1003' });
  });

  it('knows no exchanges', async () => {
    expect(await broker.publish({ exchange: 'e', routingKey: 'r' }, [message('a')])).toEqual(['unroutable']);
  });
});

describe('a dedupe id', () => {
  it.each([
    ['24h', 24 * HOUR_MS],
    ['1m', 60_000],
  ] as const)('is remembered for %s, per queue', async (dedupeWindow, windowMs) => {
    const remembering = await scene.broker({ dedupeWindow });
    const send = (queue = QUEUE) => remembering.publish(queue, [message('a', { dedupeId: 'once' })]);
    const stored = async () => (await broker.inspect(QUEUE)).ready;
    expect([await send(), await send(), await send('mails')]).toEqual([['done'], ['done'], ['done']]);
    expect(await stored()).toBe(1);
    expect(await broker.inspect('mails')).toMatchObject({ ready: 1 });
    await scene.system.advance(windowMs - 1);
    await send();
    expect(await stored()).toBe(1);
    await scene.system.advance(1);
    await send();
    expect(await stored()).toBe(2);
  });

  it('counts within one batch, also behind a message that cannot be stored', async () => {
    const bad = { body: 'text', dedupeId: 'x' } as unknown as OutgoingMessage;
    const good = message('a', { dedupeId: 'x' });
    expect(await broker.publish(QUEUE, [bad, good, good])).toEqual([expect.any(Error), 'done', 'done']);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 1 });
  });

  it('is forgotten from the file once it is over', async () => {
    await broker.publish(QUEUE, [message('a', { dedupeId: 'once' })]);
    const stranger = await scene.stranger();
    const count = () => stranger.prepare('SELECT count(*) FROM lazaret_dedupe').get();
    await scene.system.advance(23 * HOUR_MS);
    expect(count()).toEqual([1]);
    await scene.system.advance(2 * HOUR_MS);
    expect(count()).toEqual([0]);
  });
});

describe('retention', () => {
  it.each([
    ['30d', 30 * 24 * HOUR_MS],
    ['2h', 2 * HOUR_MS],
  ] as const)('forgets letters after %s, also many', async (letterRetention, retentionMs) => {
    await broker.close();
    const forgetful = await scene.broker({ letterRetention });
    const subscription = await subscribe(forgetful);
    const bodies = Array.from({ length: 1_200 }, () => ({ body: null }));
    await forgetful.publish(QUEUE, bodies);
    const deliveries = await pull(subscription, 1_200);
    const evidence = evidenceFor(deliveries[0]!, scene.system.now());
    await subscription.settle(deliveries.map((delivery) => ({ delivery, verb: 'deadLetter', evidence })));
    // Looked for every hour.
    await scene.system.advance(retentionMs - 1);
    expect(await forgetful.inspect(QUEUE)).toMatchObject({ dead: 1_200 });
    await scene.system.advance(3_700_000);
    expect(await forgetful.inspect(QUEUE)).toMatchObject({ dead: 0 });
  });

  it('turns what nobody fetched into letters, where it is asked for', async () => {
    const strict = await scene.broker({ messageRetention: '1h' });
    await strict.publish(QUEUE, [message('a', { key: 'k' }), message('b')]);
    // Fetched once, and forgotten since.
    await pull(await subscribe(broker, { leaseMs: 1 }), 1);
    await strict.publish(QUEUE, [message('later')], { delayMs: 4 * HOUR_MS });
    await scene.system.advance(HOUR_MS - 1);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 2, delayed: 1, dead: 0 });
    await scene.system.advance(3_700_000);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 0, delayed: 1, dead: 2 });
    const { items } = await broker.letters.list({ max: 10 });
    expect(items).toMatchObject([
      { message: { id: 'id-a', key: 'k' }, evidence: { reason: 'expired', attempts: 0, strikes: 1 } },
      { message: { id: 'id-b' }, evidence: { reason: 'expired' } },
    ]);
  });

  it('also turns what waited behind its key', async () => {
    const strict = await scene.broker({ messageRetention: '1h' });
    await strict.publish(QUEUE, [message('a', { key: 'k' }), message('b', { key: 'k' })]);
    await pull(await subscribe(broker, { order: 'key', leaseMs: 1 }));
    await scene.system.advance(3 * HOUR_MS);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 0, dead: 2 });
  });

  it('keeps what nobody fetched for ever by default', async () => {
    await broker.publish(QUEUE, [message('a')]);
    await scene.system.advance(40 * 24 * HOUR_MS);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 1, dead: 0 });
  });
});

describe('looking', () => {
  it('tells ready, delayed, leased and dead apart, and since when the oldest is there', async () => {
    const startedAt = scene.system.now();
    await broker.publish(
      QUEUE,
      ['a', 'b', 'c', 'd', 'e'].map((text) => message(text)),
    );
    await scene.system.advance(10);
    await broker.publish(QUEUE, [message('f')], { delayMs: 1_000 });
    const subscription = await subscribe(broker);
    const [a, , c] = await pull(subscription, 3);
    await bury(subscription, a!, scene.system.now());
    await subscription.settle([{ delivery: c!, verb: 'ack' }]);
    expect(await broker.inspect(QUEUE)).toEqual({ ready: 2, delayed: 1, leased: 1, dead: 1, oldestAt: startedAt });
    expect(await broker.inspect('nothing')).toEqual({ ready: 0, delayed: 0, leased: 0, dead: 0 });
    expect(await broker.queues()).toEqual([
      { name: QUEUE, ready: 2, delayed: 1, leased: 1, dead: 1, oldestAt: startedAt },
    ]);
  });

  it('browses page by page, taking nothing and counting nothing', async () => {
    await broker.publish(
      QUEUE,
      ['a', 'b', 'c'].map((text) => message(text)),
    );
    const first = await broker.browse!(QUEUE, undefined, 2);
    expect(first.items.map(({ id }) => id)).toEqual(['id-a', 'id-b']);
    const second = await broker.browse!(QUEUE, first.next, 2);
    expect(second.items.map(({ id }) => id)).toEqual(['id-c']);
    expect(second.next).toBeUndefined();
    expect(await broker.browse!('nothing', undefined, 2)).toEqual({ items: [] });
    expect((await pull(await subscribe(broker))).map(({ deliveries }) => deliveries)).toEqual([1, 1, 1]);
  });

  it('describes the file', () => {
    expect(broker.describe()).toEqual({
      file: scene.file,
      binding: expect.stringMatching(/sqlite/),
      sqliteVersion: expect.stringMatching(/^3\.\d+/),
      schemaVersion: 1,
      journalMode: 'wal',
      sizeBytes: expect.any(Number),
      warnings: [],
    });
  });
});

describe('provisioning', () => {
  it('plans a queue that is not there, and creates it when asked to', async () => {
    const plan = await broker.provision(QUEUE, { deadLetter: 'orders.dead' });
    expect(plan.steps.map(({ action, what }) => [action, what])).toEqual([
      ['create', "queue 'orders'"],
      ['unsupported', "dead-letter queue 'orders.dead'"],
    ]);
    expect(await broker.queues()).toEqual([]);
    await plan.apply();
    expect((await broker.queues()).map(({ name }) => name)).toEqual([QUEUE]);
    expect((await broker.provision(QUEUE, {})).steps).toEqual([]);
  });

  it.each([
    ['a consumer group', { group: 'billing' }],
    ['another dead-letter queue', { deadLetter: 'orders.dead' }],
  ])('refuses to subscribe with %s, which it has not', async (_, options) => {
    await expect(subscribe(broker, options)).rejects.toMatchObject({ code: 'LZ1004' });
  });
});
