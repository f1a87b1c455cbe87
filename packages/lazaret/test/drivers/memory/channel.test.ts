import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/broker.ts';
import { EVIDENCE, message, Scene, textOf, texts } from './scene.ts';

const ack = (delivery: Delivery) => ({ delivery, verb: 'ack' }) as const;

describe('prefetch', () => {
  it('leaves at the server what there is no credit for', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'a', 'b', 'c', 'd', 'e');
    const { pull, subscription } = await scene.consumer('orders', { prefetch: 2 });
    const ready = async () => (await scene.server.connect().inspect('orders')).ready;
    expect(await ready()).toBe(3);
    const deliveries = await pull();
    expect(texts(deliveries)).toEqual(['a', 'b']);
    expect(await ready()).toBe(3);
    await subscription.settle([ack(deliveries[0]!)]);
    expect(await ready()).toBe(2);
  });

  it('is shared in turn by several consumers', async () => {
    const scene = new Scene({ shape: 'channel' });
    const consumers = [await scene.consumer('orders'), await scene.consumer('orders')];
    await scene.publish('orders', 'a', 'b', 'c', 'd');
    expect(texts(await consumers[0]!.pull())).toEqual(['a', 'c']);
    expect(texts(await consumers[1]!.pull())).toEqual(['b', 'd']);
  });

  it('follows the credit, and hands back what was not handed out when that is 0', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'a', 'b', 'c', 'd');
    const { pull, subscription } = await scene.consumer('orders', { prefetch: 3 });
    expect(texts(await pull(1))).toEqual(['a']);
    await subscription.credit!(0);
    expect(await pull()).toEqual([]);
    const other = await scene.consumer('orders');
    expect(texts(await other.pull())).toEqual(['b', 'c', 'd']);
    await scene.publish('orders', 'e', 'f');
    expect(texts(await other.pull())).toEqual(['e', 'f']);
    await other.subscription.close();
    await subscription.credit!(2);
    expect((await pull()).length).toBe(1);
  });
});

describe('a cut connection', () => {
  it('brings everything again and counts it, also what was only buffered', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'handed out', 'buffered');
    const { broker, pull, lost } = await scene.consumer('orders');
    const [before] = await pull(1);
    scene.server.cut(broker);
    expect(lost).toEqual([before]);
    await scene.system.advance(100);
    const again = await pull();
    expect(again.map((delivery) => [textOf(delivery), delivery.deliveries])).toEqual([
      ['handed out', 2],
      ['buffered', 2],
    ]);
  });

  it('is repaired as fast as it is told to be', async () => {
    const scene = new Scene({ shape: 'channel', reconnectMs: 700 });
    await scene.publish('orders', 'waiting');
    const { broker, pull } = await scene.consumer('orders');
    const ready = async () => (await scene.server.connect().inspect('orders')).ready;
    scene.server.cut(broker);
    await scene.system.advance(699);
    expect(await ready()).toBe(1);
    await scene.system.advance(1);
    expect(await ready()).toBe(0);
    expect(texts(await pull())).toEqual(['waiting']);
  });

  it('may bring back what was acknowledged just before', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'acknowledged');
    const { broker, pull, subscription } = await scene.consumer('orders');
    const deliveries = await pull();
    scene.server.fail('settle', 'request-lost');
    expect(await subscription.settle(deliveries.map(ack))).toEqual(['done']);
    scene.server.cut(broker);
    await scene.system.advance(100);
    expect(texts(await pull())).toEqual(['acknowledged']);
  });
});

describe('a suspect', () => {
  it('is also who was only near, for the server cannot tell', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'crasher', 'neighbour');
    for (let crash = 0; crash < 2; crash++) {
      const { broker, pull } = await scene.consumer('orders');
      await pull(1);
      scene.server.kill(broker);
      await scene.system.settle();
    }
    const { pull, suspects, subscription } = await scene.consumer('orders');
    expect(await pull()).toEqual([]);
    expect(suspects).toEqual([2]);
    const first = await subscription.alone!(new AbortController().signal);
    expect(first).toMatchObject({ strikes: 2, attempt: 1 });
  });

  it('keeps its attempt, and the time when it was first seen, on its way through the lane', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'failing');
    const first = await scene.consumer('orders');
    const [delivery] = await first.pull();
    await scene.system.advance(5_000);
    await first.subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }]);
    await first.subscription.close();
    for (let crash = 0; crash < 2; crash++) {
      const { broker, pull } = await scene.consumer('orders');
      await pull();
      scene.server.kill(broker);
      await scene.system.settle();
    }
    const { subscription } = await scene.consumer('orders');
    const suspect = await subscription.alone!(new AbortController().signal);
    expect(suspect).toMatchObject({ attempt: 2, firstSeenAt: delivery!.firstSeenAt, message: { id: 'id-failing' } });
  });
});

describe('the consumer timeout', () => {
  it('closes the channel with everything on it, counts also what was buffered, and lets the consumer come back', async () => {
    const scene = new Scene({ shape: 'channel', consumerTimeoutMs: 2_000 });
    await scene.publish('orders', 'slow', 'buffered');
    const { pull, lost } = await scene.consumer('orders');
    const [slow] = await pull(1);
    await scene.system.advance(1_999);
    expect(lost).toEqual([]);
    await scene.system.advance(1);
    expect(lost).toEqual([slow]);
    await scene.system.advance(100);
    const again = await pull();
    expect(again.map(({ deliveries }) => deliveries)).toEqual([2, 2]);
  });

  it('runs from the arrival in the buffer, and what it leaves is told at the hand-out', async () => {
    const scene = new Scene({ shape: 'channel', consumerTimeoutMs: 2_000 });
    await scene.publish('orders', 'buffered');
    const { pull } = await scene.consumer('orders');
    await scene.system.advance(1_500);
    expect(await pull()).toMatchObject([{ leaseMs: 500 }]);
  });

  it('does not run for what was settled in time', async () => {
    const scene = new Scene({ shape: 'channel', consumerTimeoutMs: 2_000 });
    const { pull, subscription, lost } = await scene.consumer('orders');
    for (let n = 0; n < 4; n++) {
      await scene.publish('orders', `quick ${n}`);
      await scene.system.advance(1_500);
      await subscription.settle((await pull()).map(ack));
    }
    expect(lost).toEqual([]);
  });
});

describe('a copy', () => {
  it('whose confirm is lost is written again, under the same id', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', { body: Buffer.from('anonymous') });
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    scene.server.fail('copy', 'reply-lost');
    expect(await subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }])).toEqual(['done']);
    const copies = await pull();
    expect(copies).toHaveLength(2);
    expect(copies[0]!.message.id).toBeDefined();
    expect(copies[0]!.message.id).toBe(copies[1]!.message.id);
  });

  it.each(['refused', 'unroutable', new Error('disk full')] as const)(
    'that is %s leaves its message in hand',
    async (fault) => {
      const scene = new Scene({ shape: 'channel' });
      await scene.publish('orders', 'in hand');
      const { pull, subscription } = await scene.consumer('orders');
      const [delivery] = await pull();
      scene.server.fail('copy', fault);
      const bury = () => subscription.settle([{ delivery: delivery!, verb: 'deadLetter', evidence: EVIDENCE }]);
      expect(await bury()).toEqual([expect.any(Error)]);
      expect(scene.server.letters('orders')).toEqual([]);
      expect(await bury()).toEqual(['done']);
      expect(scene.server.letters('orders')).toHaveLength(1);
    },
  );

  it('that was written before the connection was cut leaves its message behind', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'twice');
    const { broker, pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    scene.server.fail('settle', 'hang');
    const settling = subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }]);
    await scene.system.settle();
    scene.server.cut(broker);
    await scene.system.advance(100);
    expect(await settling).toEqual(['lost']);
    expect(texts(await pull())).toEqual(['twice']);
  });

  it('for later goes to the end of the queue when it is due', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'first', 'second');
    const { pull, subscription } = await scene.consumer('orders', { prefetch: 1 });
    const [first] = await pull();
    await subscription.settle([{ delivery: first!, verb: 'retry', delayMs: 50 }]);
    await scene.publish('orders', 'third');
    await scene.system.advance(50);
    const order: string[] = [];
    for (let n = 0; n < 3; n++) {
      const deliveries = await pull();
      order.push(...texts(deliveries));
      await subscription.settle(deliveries.map(ack));
    }
    expect(order).toEqual(['second', 'third', 'first']);
  });
});

describe('giving back', () => {
  const deliveriesAfterRelease = async (release: 'hold' | 'counted', delayMs: number) => {
    const scene = new Scene({ shape: 'channel', release });
    await scene.publish('orders', 'released');
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    await subscription.settle([{ delivery: delivery!, verb: 'release', delayMs }]);
    await scene.system.advance(delayMs);
    const [again] = await pull();
    return { deliveries: again?.deliveries, attempt: again?.attempt, release: subscription.capabilities.release };
  };

  it.each([
    ['hold', 0, 2],
    ['hold', 100, 1],
    ['counted', 0, 2],
    ['counted', 100, 2],
  ] as const)('with release %s and a delay of %i ms leads to hand-out %i', async (release, delayMs, deliveries) => {
    expect(await deliveriesAfterRelease(release, delayMs)).toEqual({ deliveries, attempt: 1, release });
  });
});

describe('a single active consumer', () => {
  it('has everything to itself, and hands over in order when it closes', async () => {
    const scene = new Scene({ shape: 'channel', singleActive: true });
    const active = await scene.consumer('orders', { prefetch: 3 });
    const standby = await scene.consumer('orders', { prefetch: 3 });
    await scene.publish('orders', 'a', 'b', 'c', 'd', 'e');
    expect(texts(await active.pull(1))).toEqual(['a']);
    expect(await standby.pull()).toEqual([]);
    await active.subscription.close();
    expect(texts(await standby.pull())).toEqual(['a', 'b', 'c']);
  });

  it('is what makes order possible', async () => {
    const scene = new Scene({ shape: 'channel' });
    await expect(scene.consumer('orders', { order: 'key' })).rejects.toMatchObject({ code: 'LZ1051' });
    const { steps } = await scene.server.connect().provision('orders', { ordered: true });
    expect(steps.at(-1)).toMatchObject({ action: 'unsupported' });
    const single = new Scene({ shape: 'channel', singleActive: true });
    await expect(single.consumer('orders', { order: 'key' })).resolves.toBeDefined();
  });
});

describe('what such a server cannot tell', () => {
  it('is absent from its facts', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', 'a', message('b'));
    const { pull } = await scene.consumer('orders', { prefetch: 1 });
    await pull();
    expect(await scene.server.connect().inspect('orders')).toEqual({ ready: 1, delayed: 0, dead: 0 });
  });

  it('is null: it becomes empty', async () => {
    const scene = new Scene({ shape: 'channel' });
    await scene.publish('orders', { body: null });
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    expect(delivery?.message.body).toEqual(new Uint8Array(0));
    expect(subscription.capabilities.nullBody).toBe(false);
  });
});
