import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/broker.ts';
import { type Consumer, EVIDENCE, message, Scene, textOf, texts } from './scene.ts';

const ack = (delivery: Delivery) => ({ delivery, verb: 'ack' }) as const;

/** Messages of one key, so that all lie in one partition in order. */
const inOnePartition = (...names: readonly string[]) => names.map((name) => message(name, { key: 'k' }));

const begin = ({ subscription }: Consumer, deliveries: readonly Delivery[], alone = false) =>
  subscription.journal!.begin(deliveries.map((delivery) => ({ delivery, alone })));

describe('commits', () => {
  it('carry what is begun and what is settled in one turn together', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'a', 'b', 'c', 'd', 'e', 'f');
    const consumer = await scene.consumer('orders');
    const deliveries = await consumer.pull();
    await begin(consumer, deliveries.slice(0, 3));
    expect(scene.server.stats.commit.calls).toBe(1);
    await Promise.all([
      consumer.subscription.settle(deliveries.slice(0, 3).map(ack)),
      begin(consumer, deliveries.slice(3)),
    ]);
    expect(scene.server.stats.commit.calls).toBe(2);
  });

  it('keep what is done above the watermark', async () => {
    const scene = new Scene({ shape: 'log', sessionMs: 2_000 });
    await scene.publish('orders', ...inOnePartition('slow', 'quick 1', 'quick 2'));
    const consumer = await scene.consumer('orders');
    const deliveries = await consumer.pull();
    await begin(consumer, deliveries);
    await consumer.subscription.settle(deliveries.filter((delivery) => textOf(delivery) !== 'slow').map(ack));
    scene.server.kill(consumer.broker);
    await scene.system.advance(2_000);
    const next = await scene.consumer('orders');
    expect((await next.pull()).map((delivery) => [textOf(delivery), delivery.strikes])).toEqual([['slow', 1]]);
  });

  it('that failed are made good by settling again, and nothing is written twice', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'failing');
    const consumer = await scene.consumer('orders');
    const [delivery] = await consumer.pull();
    await begin(consumer, [delivery!]);
    scene.server.fail('commit', new Error('not coordinator'));
    const retry = () => consumer.subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }]);
    expect(await retry()).toEqual([expect.any(Error)]);
    expect(await retry()).toEqual(['done']);
    expect(texts(await consumer.pull())).toEqual(['failing']);
    expect(scene.server.stats.copy.entries).toBe(1);
    expect(await retry()).toEqual(['lost']);
  });

  it('that fail leave nothing begun', async () => {
    const scene = new Scene({ shape: 'log', sessionMs: 2_000 });
    await scene.publish('orders', 'never ran');
    const consumer = await scene.consumer('orders');
    const deliveries = await consumer.pull();
    scene.server.fail('commit', new Error('not coordinator'));
    await expect(begin(consumer, deliveries)).rejects.toThrow('not coordinator');
    scene.server.kill(consumer.broker);
    await scene.system.advance(2_000);
    const next = await scene.consumer('orders');
    expect(await next.pull()).toMatchObject([{ strikes: 0 }]);
  });
});

describe('partitions', () => {
  it('go to who joins, which is a loss for who had them, and no strike', async () => {
    const scene = new Scene({ shape: 'log', partitions: 4 });
    await scene.publish('orders', 'a', 'b', 'c', 'd');
    const first = await scene.consumer('orders');
    const deliveries = await first.pull();
    expect(deliveries).toHaveLength(4);
    await begin(first, deliveries);
    const second = await scene.consumer('orders');
    expect(first.lost.length).toBeGreaterThan(0);
    const moved = await second.pull();
    expect(texts(moved).sort()).toEqual(texts(first.lost).sort());
    expect(moved.map(({ strikes }) => strikes)).toEqual(moved.map(() => 0));
    const results = await first.subscription.settle(deliveries.map(ack));
    expect(results.filter((result) => result === 'lost')).toHaveLength(first.lost.length);
  });

  it('come back from a rebalance under a new epoch', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'in hand');
    const { pull, lost, subscription } = await scene.consumer('orders');
    const [before] = await pull();
    scene.server.rebalance('orders');
    expect(lost).toEqual([before]);
    const [after] = await pull();
    expect(await subscription.settle([ack(before!)])).toEqual(['lost']);
    expect(await subscription.settle([ack(after!)])).toEqual(['done']);
  });

  it('pass from member to member', async () => {
    const scene = new Scene({ shape: 'log', partitions: 1 });
    const [first, second] = [await scene.consumer('orders'), await scene.consumer('orders')];
    await scene.publish('orders', 'a');
    expect(texts(await first.pull())).toEqual(['a']);
    scene.server.rebalance('orders');
    expect(await first.pull()).toEqual([]);
    expect(texts(await second.pull())).toEqual(['a']);
  });

  it('of a dead member are given to others when its session ends', async () => {
    const scene = new Scene({ shape: 'log', sessionMs: 3_000 });
    await scene.publish('orders', ...inOnePartition('orphan'));
    const dead = await scene.consumer('orders');
    const deliveries = await dead.pull();
    await begin(dead, deliveries);
    scene.server.kill(dead.broker);
    await scene.system.advance(2_999);
    const living = await scene.consumer('orders');
    const early = await living.pull();
    await scene.system.advance(1);
    const late = await living.pull();
    expect(texts([...early, ...late])).toEqual(['orphan']);
  });

  it('are as many as they are told to be, and hold the messages of a key together', async () => {
    const positions = async (partitions: number) => {
      const scene = new Scene({ shape: 'log', partitions });
      await scene.publish('orders', 'a', 'b', 'c', 'd', ...inOnePartition('k1', 'k2', 'k3'));
      const { pull } = await scene.consumer('orders');
      const deliveries = await pull();
      const partitionOf = ({ source }: Delivery) => source.position?.split('@')[0];
      return {
        all: new Set(deliveries.map(partitionOf)).size,
        ofKey: new Set(deliveries.filter(({ message: { key } }) => key === 'k').map(partitionOf)).size,
      };
    };
    expect(await positions(1)).toEqual({ all: 1, ofKey: 1 });
    expect(await positions(3)).toEqual({ all: 3, ofKey: 1 });
  });
});

describe('a small pull', () => {
  it('takes from each partition in turn', async () => {
    const scene = new Scene({ shape: 'log', partitions: 2 });
    await scene.publish('orders', 'a', 'b', 'c', 'd');
    const { pull } = await scene.consumer('orders');
    const partitions: (string | undefined)[] = [];
    for (let n = 0; n < 4; n++) partitions.push(...(await pull(1)).map(({ source }) => source.position?.split('@')[0]));
    expect(partitions).toEqual(['orders/0', 'orders/1', 'orders/0', 'orders/1']);
  });
});

describe('a member that was cut off', () => {
  it('reads its own open starts as released, for it lives', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'begun');
    const consumer = await scene.consumer('orders');
    await begin(consumer, await consumer.pull());
    scene.server.cut(consumer.broker);
    await scene.system.advance(100);
    expect(await consumer.pull()).toMatchObject([{ strikes: 0 }]);
  });
});

describe('groups', () => {
  it('each read everything, retry for themselves, and bury by themselves', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'both');
    const billing = await scene.consumer('orders', { group: 'billing' });
    const mailing = await scene.consumer('orders', { group: 'mailing' });
    const [first] = await billing.pull();
    await billing.subscription.settle([{ delivery: first!, verb: 'retry', delayMs: 0 }]);
    expect(await billing.pull()).toMatchObject([{ attempt: 2 }]);
    const [other] = await mailing.pull();
    expect(other).toMatchObject({ attempt: 1 });
    await mailing.subscription.settle([{ delivery: other!, verb: 'deadLetter', evidence: EVIDENCE }]);
    const { items } = await mailing.broker.browse!('orders.mailing.dlq', undefined, 10);
    expect(texts(items.map((item) => ({ message: item })))).toEqual(['both']);
    expect(scene.server.letters('orders')).toHaveLength(1);
  });
});

describe('what waits', () => {
  it('does not hold up the rest of its partition', async () => {
    const scene = new Scene({ shape: 'log', partitions: 1 });
    const broker = scene.server.connect();
    await broker.publish('orders', [message('later')], { delayMs: 1_000 });
    await broker.publish('orders', [message('now')]);
    const { pull } = await scene.consumer('orders');
    expect(texts(await pull())).toEqual(['now']);
    await scene.system.advance(1_000);
    expect(texts(await pull())).toEqual(['later']);
  });

  it('stops its partition when it is too much', async () => {
    const scene = new Scene({ shape: 'log', partitions: 1 });
    const broker = scene.server.connect();
    await broker.publish(
      'orders',
      Array.from({ length: 300 }, (_, i) => message(`later ${i}`)),
      { delayMs: 1_000 },
    );
    await broker.publish('orders', [message('now')]);
    const { pull } = await scene.consumer('orders');
    expect(await pull()).toEqual([]);
    await scene.system.advance(1_000);
    expect(await pull(1_000)).toHaveLength(301);
  });

  it('released with a due time keeps it for the next owner', async () => {
    const scene = new Scene({ shape: 'log', sessionMs: 500 });
    await scene.publish('orders', 'later');
    const consumer = await scene.consumer('orders');
    const [delivery] = await consumer.pull();
    await consumer.subscription.settle([{ delivery: delivery!, verb: 'release', delayMs: 2_000 }]);
    scene.server.kill(consumer.broker);
    const next = await scene.consumer('orders');
    await scene.system.advance(1_999);
    expect(await next.pull()).toEqual([]);
    await scene.system.advance(1);
    expect(texts(await next.pull())).toEqual(['later']);
  });
});

describe('a dead key', () => {
  it('lives again once a collector has taken its letter', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', ...inOnePartition('poison', 'successor'));
    const { pull, subscription } = await scene.consumer('orders', { order: 'key' });
    const [poison] = await pull();
    await subscription.settle([{ delivery: poison!, verb: 'deadLetter', evidence: EVIDENCE }]);
    const [blocked] = await pull();
    expect(blocked?.blocked).toBe(true);
    await subscription.settle([{ delivery: blocked!, verb: 'release', delayMs: 0 }]);
    const collector = await scene.consumer('orders.dlq');
    await collector.subscription.settle((await collector.pull()).map(ack));
    const [free] = await pull();
    expect(free).not.toHaveProperty('blocked');
  });
});

describe('facts', () => {
  it('are the lag, and say that they are estimates', async () => {
    const scene = new Scene({ shape: 'log' });
    await scene.publish('orders', 'a', 'b', 'c');
    const broker = scene.server.connect();
    expect(await broker.inspect('orders')).toEqual({ ready: 3, dead: 0, approximate: true });
    const { pull, subscription } = await scene.consumer('orders');
    const deliveries = await pull();
    await subscription.settle([ack(deliveries[0]!), { delivery: deliveries[1]!, verb: 'retry', delayMs: 5_000 }]);
    expect(await broker.inspect('orders')).toEqual({ ready: 1, delayed: 1, dead: 0, approximate: true });
  });
});
