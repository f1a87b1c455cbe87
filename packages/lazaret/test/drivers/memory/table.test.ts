import { describe, expect, it } from 'vitest';
import { EVIDENCE, message, Scene, textOf, texts } from './scene.ts';

describe('a poll whose process was killed', () => {
  it('leases a message to nobody where the server goes on with it', async () => {
    const scene = new Scene({ shape: 'table', ghostPolls: true });
    const dead = await scene.consumer('orders');
    void dead.subscription.pull(10, new AbortController().signal);
    await scene.system.settle();
    scene.server.kill(dead.broker);
    await scene.publish('orders', 'seen by nobody');
    await scene.system.settle();
    const living = await scene.consumer('orders');
    const first = living.subscription.pull(10, new AbortController().signal);
    await scene.system.advance(500);
    expect(await first).toEqual([]);
    const second = living.subscription.pull(10, new AbortController().signal);
    await scene.system.advance(500);
    const [delivery] = await second;
    expect(delivery).toMatchObject({ deliveries: 2 });
    expect(delivery).not.toHaveProperty('strikes');
  });

  it('leases nothing once its wait is over', async () => {
    const scene = new Scene({ shape: 'table', ghostPolls: true });
    const dead = await scene.consumer('orders');
    void dead.subscription.pull(10, new AbortController().signal);
    await scene.system.settle();
    scene.server.kill(dead.broker);
    await scene.system.advance(500);
    await scene.publish('orders', 'for the living');
    const living = await scene.consumer('orders');
    expect(texts(await living.pull())).toEqual(['for the living']);
  });

  it('leases nothing where the server notices', async () => {
    const scene = new Scene({ shape: 'table' });
    const dead = await scene.consumer('orders');
    void dead.subscription.pull(10, new AbortController().signal);
    await scene.system.settle();
    scene.server.kill(dead.broker);
    await scene.publish('orders', 'for the living');
    const living = await scene.consumer('orders');
    expect(texts(await living.pull())).toEqual(['for the living']);
  });
});

describe('a server that counts hand-outs only', () => {
  it('leaves failures and starts to a journal, and says so', async () => {
    const { subscription } = await new Scene({ shape: 'table', ghostPolls: true }).consumer('orders');
    expect(subscription.capabilities).toMatchObject({ failures: 'journal', starts: 'journal', crashEvidence: 'none' });
    expect(subscription.alone).toBeUndefined();
  });

  it('is not told a close before its open poll has ended, so that nothing is leased to nobody', async () => {
    const scene = new Scene({ shape: 'table', ghostPolls: true });
    const { subscription } = await scene.consumer('orders');
    const asking = new AbortController();
    const pull = subscription.pull(10, asking.signal);
    await scene.system.settle();
    asking.abort();
    let isClosed = false;
    const closing = subscription.close().then(() => {
      isClosed = true;
    });
    await scene.publish('orders', 'late');
    await scene.system.settle();
    expect(texts(await pull)).toEqual(['late']);
    await closing;
    expect(isClosed).toBe(true);
  });
});

describe('time', () => {
  it('of the server moves no lease when the wall clock of a client jumps', async () => {
    const scene = new Scene();
    await scene.publish('orders', 'leased');
    const { pull } = await scene.consumer('orders');
    await pull();
    scene.system.jump(3_600_000);
    const other = await scene.consumer('orders');
    expect(await other.pull()).toEqual([]);
    scene.system.jump(-7_200_000);
    await scene.system.advance(1_000);
    expect(texts(await other.pull())).toEqual(['leased']);
  });

  it('hides a delivery for no longer than its cap, which is told', async () => {
    const scene = new Scene({ shape: 'table', hideCapMs: 5_000 });
    await scene.publish('orders', 'capped');
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    expect(delivery?.delayCapAt).toBe(scene.system.now() + 5_000);
    const retry = (delayMs: number) => subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs }]);
    expect(await retry(5_001)).toMatchObject([{ code: 'LZ1003' }]);
    expect(await retry(5_000)).toEqual(['done']);
  });
});

describe('limits', () => {
  it('refuse a delay beyond the promised one, instead of clamping it', async () => {
    const scene = new Scene({ shape: 'table', limits: { maxDelayMs: 900, maxPublishDelayMs: 800 } });
    await scene.publish('orders', 'staged');
    const { broker, pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    expect(await subscription.settle([{ delivery: delivery!, verb: 'release', delayMs: 901 }])).toMatchObject([
      { code: 'LZ1003' },
    ]);
    expect(await broker.publish('orders', [message('a')], { delayMs: 801 })).toMatchObject([{ code: 'LZ1003' }]);
    expect(await broker.publish('orders', [message('a')], { delayMs: 800 })).toEqual(['done']);
  });

  it('round delays up to whole grains', async () => {
    const scene = new Scene({ shape: 'table', limits: { delayGrainMs: 1_000 } });
    await scene.publish('orders', 'rounded');
    const { pull, subscription } = await scene.consumer('orders');
    const [delivery] = await pull();
    await subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 1_001 }]);
    await scene.system.advance(1_999);
    expect(await pull()).toEqual([]);
    await scene.system.advance(1);
    expect(await pull()).toHaveLength(1);
  });

  it('refuse headers beyond the budget', async () => {
    const scene = new Scene({ shape: 'table', limits: { headerBudgetBytes: 10 } });
    const broker = scene.server.connect();
    const results = await broker.publish('orders', [
      message('a', { headers: [['12345', '67890']] }),
      message('b', { headers: [['12345', 'ä2345']] }),
    ]);
    expect(results).toMatchObject(['done', { code: 'LZ1119' }]);
  });

  it('hand out nothing while as much is leased as can be', async () => {
    const scene = new Scene({ shape: 'table', inFlightLimit: 2 });
    await scene.publish('orders', 'a', 'b', 'c');
    const { pull, subscription } = await scene.consumer('orders');
    const deliveries = await pull();
    expect(texts(deliveries)).toEqual(['a', 'b']);
    expect(await pull()).toEqual([]);
    await subscription.settle([{ delivery: deliveries[0]!, verb: 'ack' }]);
    expect(texts(await pull())).toEqual(['c']);
  });
});

describe('order', () => {
  it('is that of due times, then of insertion', async () => {
    const scene = new Scene();
    const broker = scene.server.connect();
    await broker.publish('orders', [message('later')], { delayMs: 20 });
    await broker.publish('orders', [message('sooner')], { delayMs: 10 });
    await broker.publish('orders', [message('now 1'), message('now 2')]);
    await scene.system.advance(20);
    const { pull } = await scene.consumer('orders');
    expect(texts(await pull())).toEqual(['now 1', 'now 2', 'sooner', 'later']);
  });

  it('makes a message wait behind a suspect of its key', async () => {
    const scene = new Scene();
    await scene.publish('orders', message('a1', { key: 'a' }), message('a2', { key: 'a' }));
    for (let crash = 0; crash < 2; crash++) {
      const victim = await scene.consumer('orders', { order: 'key' });
      expect(texts(await victim.pull())).toEqual(['a1']);
      scene.server.kill(victim.broker);
      await scene.system.advance(1_000);
    }
    const { pull, subscription } = await scene.consumer('orders', { order: 'key' });
    expect(await pull()).toEqual([]);
    const suspect = await subscription.alone!(new AbortController().signal);
    expect(suspect && textOf(suspect)).toBe('a1');
    expect(await pull()).toEqual([]);
    await subscription.settle([{ delivery: suspect!, verb: 'ack' }]);
    expect(texts(await pull())).toEqual(['a2']);
  });

  it('does not hide from one who asks for none what waits behind its key', async () => {
    const scene = new Scene();
    await scene.publish('orders', message('a1', { key: 'a' }), message('a2', { key: 'a' }));
    const ordered = await scene.consumer('orders', { order: 'key' });
    await ordered.pull();
    const unordered = await scene.consumer('orders');
    expect(texts(await unordered.pull())).toEqual(['a2']);
  });

  it('blocks a key no longer once a collector has taken its letter', async () => {
    const scene = new Scene();
    await scene.publish('orders', message('a1', { key: 'a' }), message('a2', { key: 'a' }));
    const { pull, subscription } = await scene.consumer('orders', { order: 'key' });
    const [poison] = await pull();
    await subscription.settle([{ delivery: poison!, verb: 'deadLetter', evidence: EVIDENCE }]);
    const [blocked] = await pull();
    expect(blocked?.blocked).toBe(true);
    await subscription.settle([{ delivery: blocked!, verb: 'release', delayMs: 0 }]);
    const collector = await scene.consumer('orders.dlq');
    const [letter] = await collector.pull();
    expect(letter).toMatchObject({ attempt: 1 });
    await collector.subscription.settle([{ delivery: letter!, verb: 'ack' }]);
    const [free] = await pull();
    expect(free).not.toHaveProperty('blocked');
  });
});

describe('a suspect', () => {
  it('is told also when a pull finds it in the instant in which its lease ends', async () => {
    const scene = new Scene();
    await scene.publish('orders', 'crasher');
    const living = await scene.consumer('orders');
    for (let crash = 0; crash < 2; crash++) {
      const victim = await scene.consumer('orders');
      if (crash === 1) scene.system.after(1_000, () => void living.subscription.pull(10, new AbortController().signal));
      await victim.pull();
      scene.server.kill(victim.broker);
      await scene.system.advance(1_000);
    }
    expect(living.suspects).toEqual([1]);
  });
});

describe('a cut connection', () => {
  it('takes no lease, and its settlements arrive when it is back', async () => {
    const scene = new Scene({ shape: 'table', reconnectMs: 300 });
    await scene.publish('orders', 'leased');
    const { broker, pull, subscription, lost } = await scene.consumer('orders');
    const [delivery] = await pull();
    scene.server.cut(broker);
    const settling = subscription.settle([{ delivery: delivery!, verb: 'ack' }]);
    let results: unknown;
    void settling.then((answer) => {
      results = answer;
    });
    await scene.system.advance(299);
    expect(results).toBeUndefined();
    await scene.system.advance(1);
    expect(results).toEqual(['done']);
    expect(lost).toEqual([]);
  });
});

describe('many messages', () => {
  it('are all there, also after thousands of leases that ended', async () => {
    const scene = new Scene();
    const { pull, subscription } = await scene.consumer('orders', { leaseMs: 60_000 });
    let seen = 0;
    for (let round = 0; round < 200; round++) {
      await scene.publish('orders', ...Array.from({ length: 20 }, (_, i) => `${round}-${i}`));
      const deliveries = await pull(20);
      seen += deliveries.length;
      await subscription.settle(deliveries.map((delivery) => ({ delivery, verb: 'ack' })));
    }
    expect(seen).toBe(4_000);
    expect(await scene.server.connect().inspect('orders')).toEqual({ ready: 0, delayed: 0, leased: 0, dead: 0 });
  });
});
