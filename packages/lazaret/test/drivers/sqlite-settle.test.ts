import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { Delivery, Settlement, Subscription } from '../../src/ports/broker.ts';
import { bury, evidenceFor, message, one, pull, QUEUE, Scene, subscribe, type Told, textOf } from './sqlite-scene.ts';

let scene: Scene;
let broker: SqliteBroker;
beforeEach(async () => {
  scene = new Scene();
  broker = await scene.broker();
});
afterEach(() => scene.end());

const ack = (delivery: Delivery): Settlement => ({ delivery, verb: 'ack' });
const send = (...texts: string[]) =>
  broker.publish(
    QUEUE,
    texts.map((text) => message(text)),
  );

describe('a batch of acks', () => {
  const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];
  const SUBSETS: readonly (readonly [string, readonly number[]])[] = [
    ['in order', [0, 1, 2, 3, 4, 5]],
    ['backwards', [5, 4, 3, 2, 1, 0]],
    ['with gaps', [0, 1, 4]],
    ['one alone', [3]],
    ['two runs, mixed', [5, 0, 4, 1]],
  ];

  it.each(SUBSETS)('removes those rows and no other: %s', async (_, chosen) => {
    await send(...LETTERS);
    const subscription = await subscribe(broker);
    const deliveries = await pull(subscription);
    const results = await subscription.settle(chosen.map((i) => ack(deliveries[i]!)));
    expect(results).toEqual(chosen.map(() => 'done'));
    await scene.system.advance(10_001);
    const left = (await pull(subscription)).map(textOf).sort();
    expect(left).toEqual(LETTERS.filter((_, i) => !chosen.includes(i)));
  });

  it('says which one was lost, and still does the others', async () => {
    await send(...LETTERS);
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    const first = await pull(subscription);
    await subscription.extend([0, 1, 3, 4, 5].map((i) => ({ delivery: first[i]!, leaseMs: 5_000 })));
    await scene.system.advance(1_000);
    const [again] = await pull(subscription);
    expect(textOf(again!)).toBe('c');
    expect(await subscription.settle(first.map(ack))).toEqual(['done', 'done', 'lost', 'done', 'done', 'done']);
    expect(await subscription.settle([ack(again!)])).toEqual(['done']);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 0, leased: 0 });
  });

  it('answers lost to the same delivery said twice', async () => {
    await send('a', 'b');
    const subscription = await subscribe(broker);
    const [a, b] = await pull(subscription);
    expect(await subscription.settle([ack(a!), ack(a!), ack(b!)])).toEqual(['done', 'lost', 'done']);
    expect(await subscription.settle([ack(a!)])).toEqual(['lost']);
  });

  it('refuses a late settle although nobody took the message meanwhile', async () => {
    await send('a');
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    const a = await one(subscription);
    await scene.system.advance(1_000);
    expect(await subscription.settle([ack(a)])).toEqual(['lost']);
    expect(await subscription.extend([{ delivery: a, leaseMs: 1_000 }])).toEqual(['lost']);
    expect(textOf(await one(subscription))).toBe('a');
  });
});

describe('counting', () => {
  it('charges a retry, clears its strikes, and does not hand it out before its time', async () => {
    await send('a');
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    await one(subscription);
    await scene.system.advance(1_000);
    const struck = await one(subscription);
    expect(struck).toMatchObject({ attempt: 1, strikes: 1, deliveries: 2 });
    await subscription.settle([{ delivery: struck, verb: 'retry', delayMs: 500, notBefore: scene.system.now() + 900 }]);
    await scene.system.advance(499);
    expect(await pull(subscription)).toEqual([]);
    await scene.system.advance(1);
    expect(await one(subscription)).toMatchObject({
      attempt: 2,
      strikes: 0,
      deliveries: 3,
      notBefore: scene.system.now() + 400,
    });
  });

  it('neither charges a release nor forgets the strikes before it', async () => {
    await send('a');
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    await one(subscription);
    await scene.system.advance(1_000);
    await subscription.settle([{ delivery: await one(subscription), verb: 'release', delayMs: 0 }]);
    expect(await one(subscription)).toMatchObject({ attempt: 1, strikes: 1, deliveries: 3 });
  });

  it('records the charge of a hold, and keeps the lease', async () => {
    await send('a');
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    const a = await one(subscription);
    await subscription.settle([{ delivery: a, verb: 'hold', delayMs: 100, charged: false }]);
    await subscription.settle([{ delivery: a, verb: 'hold', delayMs: 100, charged: true }]);
    expect(await pull(subscription)).toEqual([]);
    await scene.system.advance(1_000);
    expect(await one(subscription)).toMatchObject({ attempt: 2, strikes: 1 });
  });

  it('clamps the attempt that a header claims, and fails closed where it cannot be read', async () => {
    await broker.publish(QUEUE, [
      message('a', { headers: [['lazaret-attempt', '3']] }),
      message('b', { headers: [['lazaret-attempt', '99']] }),
      message('c', { headers: [['lazaret-attempt', 'first']] }),
    ]);
    const subscription = await subscribe(broker, { maxAttempts: 5 });
    expect((await pull(subscription)).map(({ attempt }) => attempt)).toEqual([3, 5, 5]);
  });

  it('refuses a delay beyond what it promised, for that one alone', async () => {
    await send('a', 'b');
    const subscription = await subscribe(broker);
    const [a, b] = await pull(subscription);
    const results = await subscription.settle([
      { delivery: a!, verb: 'retry', delayMs: subscription.capabilities.maxDelayMs + 1 },
      { delivery: b!, verb: 'retry', delayMs: subscription.capabilities.maxDelayMs },
    ]);
    expect(results).toEqual([expect.objectContaining({ code: 'LZ1003' }), 'done']);
  });
});

describe('suspects', () => {
  async function strikeTwice(subscription: Subscription): Promise<void> {
    for (let starts = 0; starts < 2; starts++) {
      await pull(subscription);
      await scene.system.advance(1_000);
    }
  }

  it('sets aside what was started twice without outcome, tells how many, and hands it out alone', async () => {
    const told: Told = { suspects: [] };
    const subscription = await subscribe(broker, { leaseMs: 1_000 }, told);
    await send('a', 'b');
    await strikeTwice(subscription);
    await send('c');
    expect((await pull(subscription)).map(textOf)).toEqual(['c']);
    expect(told.suspects).toEqual([2]);
    const { signal } = new AbortController();
    expect(await subscription.alone!(signal)).toMatchObject({ strikes: 2, attempt: 1 });
    expect(told.suspects).toEqual([2, 1]);
    const b = await subscription.alone!(signal);
    expect(told.suspects).toEqual([2, 1, 0]);
    expect(await subscription.alone!(signal)).toBeUndefined();
    await subscription.settle([ack(b!)]);
    await scene.system.advance(1_000);
    expect(await subscription.alone!(signal)).toMatchObject({ strikes: 3 });
  });

  it('tells a waiting consumer of a suspect when its lease runs out', async () => {
    const told: Told = { suspects: [] };
    const dying = await subscribe(await scene.broker(), { leaseMs: 1_000 });
    await send('a');
    await strikeTwice(dying);
    await subscribe(broker, {}, told).then((subscription) => pull(subscription));
    expect(told.suspects).toEqual([1]);
  });

  it('sends a suspect back to the others once it had an outcome', async () => {
    const subscription = await subscribe(broker, { leaseMs: 1_000 });
    await send('a');
    await strikeTwice(subscription);
    const alone = await subscription.alone!(new AbortController().signal);
    await subscription.settle([{ delivery: alone!, verb: 'retry', delayMs: 0 }]);
    expect(await one(subscription)).toMatchObject({ attempt: 2, strikes: 0 });
  });
});

describe('dead letters', () => {
  it('keep everything of the message, and their evidence', async () => {
    const headers = [
      ['x-tenant', 'seven'],
      ['x-tenant', 'twice'],
      ['__proto__', 'a\0\ud800'],
      ['x-bytes', new Uint8Array([0, 255])],
    ] as const;
    const native = { driver: 'kafka', version: 3, bytes: new Uint8Array([1, 2]) };
    await broker.publish(QUEUE, [message('a', { key: 'k\0', headers, native })]);
    const subscription = await subscribe(broker);
    const a = await one(subscription);
    expect(a.message).toMatchObject({ id: 'id-a', key: 'k\0', headers, native });
    const evidence = evidenceFor(a, scene.system.now(), { why: 'because\0of \udfff' });
    expect(await subscription.settle([{ delivery: a, verb: 'deadLetter', evidence }])).toEqual(['done']);
    const { items } = await broker.letters.list({ max: 10 });
    expect(items).toEqual([
      { id: '1', queue: QUEUE, state: 'open', occurrence: 1, deliveries: 1, evidence, message: a.message },
    ]);
    expect(await broker.letters.show('1')).toEqual(items[0]);
    expect(await broker.letters.show('2')).toBeUndefined();
    expect(await broker.letters.show('nonsense')).toBeUndefined();
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 0, leased: 0, dead: 1 });
  });

  it('are released as if they had never failed, and count when they die again', async () => {
    await send('a');
    const subscription = await subscribe(broker);
    const a = await one(subscription);
    await subscription.settle([{ delivery: a, verb: 'retry', delayMs: 0 }]);
    await bury(subscription, await one(subscription), scene.system.now());
    expect(await broker.letters.release(['1', '7', 'nonsense'])).toEqual([
      { id: '1', result: 'released' },
      { id: '7', result: 'unknown' },
      { id: 'nonsense', result: 'unknown' },
    ]);
    expect((await broker.letters.list({ max: 10 })).items).toEqual([]);
    expect(await broker.letters.show('1')).toMatchObject({ state: 'released' });
    expect(await broker.letters.release(['1'])).toEqual([{ id: '1', result: 'unknown' }]);
    const again = await one(subscription);
    expect(again).toMatchObject({ attempt: 1, strikes: 0, deliveries: 3, firstSeenAt: a.firstSeenAt });
    expect(again.source.position).toBe(a.source.position);
    await bury(subscription, again, scene.system.now());
    expect((await broker.letters.list({ max: 10 })).items).toMatchObject([{ id: '1', occurrence: 2, deliveries: 3 }]);
  });

  it('do not let an earlier hand-out settle what was released', async () => {
    await send('a');
    const subscription = await subscribe(broker);
    const a = await one(subscription);
    await bury(subscription, a, scene.system.now());
    await broker.letters.release(['1']);
    await one(subscription);
    expect(await subscription.settle([ack(a)])).toEqual(['lost']);
  });

  it('are listed page by page, all queues or one', async () => {
    for (const queue of ['orders', 'mails']) {
      await broker.publish(
        queue,
        ['1', '2', '3'].map((text) => message(`${queue}${text}`)),
      );
      const subscription = await broker.subscribe(queue, {
        prefetch: 10,
        leaseMs: 1_000,
        waitMs: 0,
        order: 'none',
        maxAttempts: 4,
        lost: () => {},
        suspects: () => {},
      });
      for (const delivery of await pull(subscription)) await bury(subscription, delivery, scene.system.now());
    }
    const seen: string[][] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await broker.letters.list({ max: 2, ...(after === '' ? {} : { after }) });
      seen.push(page.items.map(({ message: { id } }) => id!));
      after = page.next;
    }
    expect(seen).toEqual([
      ['id-orders1', 'id-orders2'],
      ['id-orders3', 'id-mails1'],
      ['id-mails2', 'id-mails3'],
    ]);
    const mails = await broker.letters.list({ queue: 'mails', max: 10 });
    expect(mails.items.map(({ queue }) => queue)).toEqual(['mails', 'mails', 'mails']);
    expect(mails.next).toBeUndefined();
    await expect(broker.letters.list({ after: 'elsewhere', max: 1 })).rejects.toMatchObject({ code: 'LZ1003' });
  });

  it('never share their number with a later message', async () => {
    await send('a');
    const subscription = await subscribe(broker);
    await bury(subscription, await one(subscription), scene.system.now());
    await send('b');
    const b = await one(subscription);
    await subscription.settle([ack(b)]);
    await send('c');
    expect((await one(subscription)).source.position).toBe('row 3');
  });
});
