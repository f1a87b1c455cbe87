import { describe, expect, it } from 'vitest';
import { type MemoryOptions, memory, memoryServer } from '../../../src/drivers/memory/index.ts';
import { ManualSystem } from '../../../src/testing/manual-system.ts';
import { EVIDENCE, message, Scene, texts } from './scene.ts';

const SHAPES: readonly MemoryOptions[] = [{ shape: 'table' }, { shape: 'channel' }, { shape: 'log' }];

describe.each(SHAPES)('a server of shape $shape', (options) => {
  it('keeps its messages when a client comes and goes', async () => {
    const driver = memory(options);
    const system = new ManualSystem();
    const first = await driver.connect(system);
    await first.publish('orders', [message('kept')]);
    await first.close();
    const second = await driver.connect(system);
    const { items } = await second.browse!('orders', undefined, 10);
    expect(items).toHaveLength(1);
  });

  it('never answers a dead process', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'a');
    const { broker, pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    scene.server.kill(broker);
    let answers = 0;
    const note = () => answers++;
    subscription.settle([{ delivery: delivery!, verb: 'ack' }]).then(note, note);
    subscription.pull(1, new AbortController().signal).then(note, note);
    subscription.close().then(note, note);
    subscription.journal?.begin([{ delivery: delivery!, alone: false }]).then(note, note);
    broker.publish('orders', [message('b')]).then(note, note);
    await scene.system.advance(60_000);
    expect(answers).toBe(0);
  });

  it('refuses what was not provisioned, where that is required', async () => {
    const scene = new Scene({ ...options, declare: 'required' });
    const broker = scene.server.connect();
    expect(await broker.publish('orders', [message('a')])).toEqual(['unroutable']);
    await expect(scene.consumer('orders')).rejects.toMatchObject({ code: 'LZ1302' });
    await expect(broker.inspect('orders')).rejects.toMatchObject({ code: 'LZ1302' });
    const plan = await broker.provision('orders', { retryDelaysMs: [2_000] });
    expect(plan.steps[0]).toMatchObject({ action: 'create', what: 'orders' });
    await plan.apply();
    expect(await broker.publish('orders', [message('a')])).toEqual(['done']);
  });

  it('routes by the default exchange, and knows no other', async () => {
    const scene = new Scene(options);
    const broker = scene.server.connect();
    expect(await broker.publish({ exchange: '', routingKey: 'orders' }, [message('a')])).toEqual(['done']);
    expect(await broker.publish({ exchange: 'shop', routingKey: 'orders' }, [message('a')])).toEqual(['unroutable']);
    const { pull } = await scene.consumer('orders');
    expect(texts(await pull())).toEqual(['a']);
  });

  it('puts dead letters where it is told to', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'poison');
    const { broker, pull, subscription } = await scene.consumer('orders', { deadLetter: 'graveyard' });
    const [delivery] = await pull();
    await subscription.settle([{ delivery: delivery!, verb: 'deadLetter', evidence: EVIDENCE }]);
    expect((await broker.browse!('graveyard', undefined, 10)).items).toHaveLength(1);
    expect(scene.server.letters('orders')).toMatchObject([{ evidence: EVIDENCE }]);
    expect(await broker.inspect('orders')).toMatchObject({ dead: 1 });
  });

  it('forgets a dedupe id when its window is over', async () => {
    const scene = new Scene({ ...options, dedupeWindowMs: 1_000 });
    const broker = scene.server.connect();
    const once = [message('once', { dedupeId: 'd' })];
    const stored = async () => (await broker.browse!('orders', undefined, 10)).items.length;
    await broker.publish('orders', once);
    await scene.system.advance(999);
    await broker.publish('orders', once);
    expect(await stored()).toBe(1);
    await scene.system.advance(1);
    await broker.publish('orders', once);
    expect(await stored()).toBe(2);
  });

  it('counts what it is asked', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'a', 'b', 'c');
    const { pull, subscription } = await scene.consumer('orders');
    const deliveries = await pull(2);
    await subscription.settle(deliveries.map((delivery) => ({ delivery, verb: 'ack' })));
    expect(scene.server.stats).toMatchObject({
      publish: { calls: 1, entries: 3 },
      pull: { calls: 1, entries: 2 },
      settle: { calls: 1, entries: 2 },
    });
  });
});

describe.each(SHAPES)('a script of faults for shape $shape', (options) => {
  const failure = new Error('scripted');

  it.each([
    [failure, failure, 0],
    ['refused', 'refused', 0],
    ['unroutable', 'unroutable', 0],
    ['request-lost', 'unknown', 0],
    ['reply-lost', 'unknown', 1],
  ] as const)('makes a publish meet %s', async (fault, answer, stored) => {
    const scene = new Scene(options);
    const broker = scene.server.connect();
    scene.server.fail('publish', fault);
    expect(await broker.publish('orders', [message('unlucky'), message('lucky')])).toEqual([answer, 'done']);
    expect((await broker.browse!('orders', undefined, 10)).items).toHaveLength(stored + 1);
  });

  it('makes a call hang until the connection was cut and is back', async () => {
    const scene = new Scene({ ...options, reconnectMs: 50 });
    const broker = scene.server.connect();
    scene.server.fail('publish', 'hang');
    let results: unknown;
    void broker.publish('orders', [message('a')]).then((answer) => {
      results = answer;
    });
    await scene.system.advance(60_000);
    expect(results).toBeUndefined();
    scene.server.cut(broker);
    await scene.system.advance(50);
    expect(results).toEqual(['done']);
  });

  it('makes pulls fail as often as it is told', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'a');
    const { pull } = await scene.consumer('orders');
    scene.server.fail('pull', failure, 2);
    await expect(pull()).rejects.toBe(failure);
    await expect(pull()).rejects.toBe(failure);
    expect(texts(await pull())).toEqual(['a']);
  });

  it('makes one settlement fail, and its neighbours not', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'a', 'b');
    const { pull, subscription } = await scene.consumer('orders');
    const deliveries = await pull();
    scene.server.fail('settle', failure);
    const batch = deliveries.map((delivery) => ({ delivery, verb: 'ack' }) as const);
    expect(await subscription.settle(batch)).toEqual([failure, 'done']);
    expect(await subscription.settle(batch.slice(0, 1))).toEqual(['done']);
  });

  it('makes an extension fail', async () => {
    const scene = new Scene(options);
    await scene.publish('orders', 'a');
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    scene.server.fail('extend', failure);
    expect(await subscription.extend([{ delivery: delivery!, leaseMs: 1_000 }])).toEqual([failure]);
  });
});

describe('a reply that was lost', () => {
  it('leaves a settlement done that says it failed, so that settling again finds it lost', async () => {
    const scene = new Scene({ shape: 'table' });
    await scene.publish('orders', 'a');
    const { pull, subscription } = await scene.consumer('orders');
    const batch = (await pull()).map((delivery) => ({ delivery, verb: 'ack' }) as const);
    scene.server.fail('settle', 'reply-lost');
    expect(await subscription.settle(batch)).toMatchObject([{ code: 'ECONNRESET' }]);
    expect(await subscription.settle(batch)).toEqual(['lost']);
  });

  it('leaves a message leased to nobody', async () => {
    const scene = new Scene({ shape: 'table' });
    await scene.publish('orders', 'a');
    const { pull } = await scene.consumer('orders');
    scene.server.fail('pull', 'reply-lost');
    await expect(pull()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await pull()).toEqual([]);
    await scene.system.advance(1_000);
    expect(texts(await pull())).toEqual(['a']);
  });
});

describe('a stranger', () => {
  it('can be neither killed nor cut', () => {
    const [one, other] = [memoryServer({ system: new ManualSystem() }), memoryServer({ system: new ManualSystem() })];
    expect(() => one.kill(other.connect())).toThrow(expect.objectContaining({ code: 'LZ1054' }));
    expect(() => one.cut(other.connect())).toThrow(expect.objectContaining({ code: 'LZ1054' }));
  });
});
