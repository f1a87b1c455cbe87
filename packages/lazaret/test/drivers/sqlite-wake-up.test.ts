import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { Delivery, Subscription } from '../../src/ports/broker.ts';
import { bury, message, one, pull, QUEUE, Scene, subscribe, textOf } from './sqlite-scene.ts';

let scene: Scene;
let broker: SqliteBroker;
let subscription: Subscription;
beforeEach(async () => {
  scene = new Scene();
  broker = await scene.broker();
  subscription = await subscribe(broker, { waitMs: 60_000, leaseMs: 5_000 });
});
afterEach(() => scene.end());

/** A pull, and what it brought once it is over. */
function waiting(from = subscription, signal = new AbortController().signal): { readonly texts: string[] | undefined } {
  const seen: { texts: string[] | undefined } = { texts: undefined };
  void from.pull(10, signal).then((deliveries: readonly Delivery[]) => {
    seen.texts = deliveries.map(textOf);
  });
  return seen;
}

describe('a pull of an empty queue', () => {
  it('is woken at once by a publish of the same broker', async () => {
    const pulled = waiting();
    await scene.system.settle();
    await broker.publish(QUEUE, [message('a')]);
    await scene.system.settle();
    expect(pulled.texts).toEqual(['a']);
  });

  it('is woken by a publish that came while it was found empty', async () => {
    const pulled = waiting();
    void broker.publish(QUEUE, [message('a')]);
    await scene.system.settle();
    expect(pulled.texts).toEqual(['a']);
  });

  it('sees within 50 ms what another process published, however long it has waited', async () => {
    const other = await scene.broker();
    for (const quietMs of [0, 5, 30_000]) {
      const pulled = waiting();
      await scene.system.advance(quietMs);
      await other.publish(QUEUE, [message('a')]);
      await scene.system.advance(50);
      expect(pulled.texts).toEqual(['a']);
    }
  });

  it('ends empty when its time is up, and not before', async () => {
    const pulled = waiting();
    await scene.system.advance(59_999);
    expect(pulled.texts).toBeUndefined();
    await scene.system.advance(1);
    expect(pulled.texts).toEqual([]);
  });

  it('ends at once when it is told to ask no more', async () => {
    const asking = new AbortController();
    const pulled = waiting(subscription, asking.signal);
    await scene.system.settle();
    asking.abort();
    await scene.system.settle();
    expect(pulled.texts).toEqual([]);
    await broker.publish(QUEUE, [message('a')]);
    await scene.system.settle();
    expect(pulled.texts).toEqual([]);
  });

  it('returns what a request brings that was under way when it was told to ask no more', async () => {
    await broker.publish(QUEUE, [message('a')]);
    const asking = new AbortController();
    const pulled = waiting(subscription, asking.signal);
    asking.abort();
    await scene.system.settle();
    expect(pulled.texts).toEqual(['a']);
  });

  it.each([
    ['delayed at publishing', (delayMs: number) => broker.publish(QUEUE, [message('a')], { delayMs })],
    [
      'delayed by another process',
      async (delayMs: number) => (await scene.broker()).publish(QUEUE, [message('a')], { delayMs }),
    ],
    [
      'retried',
      async (delayMs: number) => {
        await broker.publish(QUEUE, [message('a')]);
        const delivery = await one(subscription);
        await subscription.settle([{ delivery, verb: 'retry', delayMs }]);
      },
    ],
  ])('brings a message exactly when it is due: %s', async (_, delay) => {
    await delay(1_234);
    const pulled = waiting();
    await scene.system.advance(1_233);
    expect(pulled.texts).toBeUndefined();
    await scene.system.advance(1);
    expect(pulled.texts).toEqual(['a']);
  });

  it('brings a message exactly when it is due that was delayed while it waited', async () => {
    const pulled = waiting();
    await scene.system.advance(7);
    await broker.publish(QUEUE, [message('a')], { delayMs: 1_234 });
    await scene.system.advance(1_233);
    expect(pulled.texts).toBeUndefined();
    await scene.system.advance(1);
    expect(pulled.texts).toEqual(['a']);
  });

  it('is not late for a message that is due before it would look again', async () => {
    const pulled = waiting();
    await scene.system.advance(10_007);
    await broker.publish(QUEUE, [message('a')], { delayMs: 3 });
    await scene.system.advance(2);
    expect(pulled.texts).toBeUndefined();
    await scene.system.advance(1);
    expect(pulled.texts).toEqual(['a']);
  });

  it('is woken at once by a letter that is released', async () => {
    await broker.publish(QUEUE, [message('a')]);
    await bury(subscription, await one(subscription), scene.system.now());
    const pulled = waiting();
    await scene.system.settle();
    await broker.letters.release(['1']);
    await scene.system.settle();
    expect(pulled.texts).toEqual(['a']);
  });

  it('brings a message whose lease ran out elsewhere', async () => {
    const other = await subscribe(await scene.broker(), { leaseMs: 2_000 });
    await broker.publish(QUEUE, [message('a')]);
    await pull(other);
    const pulled = waiting();
    await scene.system.advance(1_999);
    expect(pulled.texts).toBeUndefined();
    await scene.system.advance(1);
    expect(pulled.texts).toEqual(['a']);
  });

  it('is not late when the wall clock was set forward', async () => {
    await broker.publish(QUEUE, [message('a')], { delayMs: 3_600_000 });
    const pulled = waiting();
    await scene.system.advance(1_000);
    scene.system.jump(3_600_000);
    await scene.system.advance(50);
    expect(pulled.texts).toEqual(['a']);
  });

  it('leaves no timer behind', async () => {
    const asking = new AbortController();
    await scene.system.advance(1_000);
    const before = scene.system.pending();
    waiting(subscription, asking.signal);
    await scene.system.advance(100);
    asking.abort();
    await scene.system.advance(1_000);
    expect(scene.system.pending()).toBe(before);
  });
});

describe('two consumers', () => {
  it('never get the same message', async () => {
    const others = await Promise.all([scene.broker(), scene.broker()]);
    const subscriptions = await Promise.all(others.map((other) => subscribe(other)));
    await broker.publish(
      QUEUE,
      Array.from({ length: 30 }, (_, i) => message(String(i))),
    );
    const seen: string[] = [];
    for (let round = 0; round < 6; round++) {
      const pulled = await Promise.all(subscriptions.map((from) => pull(from, 4)));
      seen.push(...pulled.flat().map(textOf));
    }
    expect(seen.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 30 }, (_, i) => String(i)));
  });

  it('each have their own queue', async () => {
    const pulled = waiting();
    await broker.publish('mails', [message('a')]);
    await scene.system.advance(100);
    expect(pulled.texts).toBeUndefined();
  });
});
