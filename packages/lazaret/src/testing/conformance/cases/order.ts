import assert from 'node:assert/strict';
import type { Delivery } from '../../../ports/broker.ts';
import type { Case } from '../case.ts';
import { evidence, message, textOf, textsOf } from '../messages.ts';
import { ORDER, PUBLISH_DELAY, RETRY_KEEPS_ORDER } from '../needs.ts';

const keyed = (...texts: readonly string[]) => texts.map((text) => message(text, { key: text[0]! }));

export const ORDER_CASES: readonly Case[] = [
  {
    name: 'hands out the messages of a key one at a time, in order',
    needs: [ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2', 'a3'), { order: 'key' });
      for (const expected of ['a1', 'a2', 'a3']) {
        const [delivery, ...others] = await worker.gather(t.patience.graceMs);
        assert.deepEqual(
          [delivery, ...others].map((d) => d && textOf(d)),
          [expected],
        );
        await worker.ack(delivery!);
      }
    },
  },
  {
    name: 'lets other keys pass',
    needs: [ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2', 'b1', 'c1'), { order: 'key' });
      assert.deepEqual(textsOf(await worker.gather(t.patience.graceMs)), ['a1', 'b1', 'c1']);
    },
  },
  {
    name: 'lets messages without a key pass each other',
    needs: [ORDER],
    async run(t) {
      const { worker } = await t.begin([message('one'), message('two'), message('three')], { order: 'key' });
      assert.deepEqual(textsOf(await worker.gather(t.patience.graceMs)), ['one', 'three', 'two']);
    },
  },
  {
    name: 'never has one key in two hands, and keeps its order over several consumers',
    needs: [ORDER],
    async run(t) {
      const keys = ['a', 'b', 'c', 'd'];
      const texts = [1, 2, 3, 4].flatMap((n) => keys.map((key) => `${key}${n}`));
      const queue = await t.queue({ ordered: true });
      const workers = [await t.worker(queue, { order: 'key' }), await t.worker(queue, { order: 'key' })];
      await t.publish(queue, keyed(...texts));
      const seen: string[] = [];
      for (let round = 0; seen.length < texts.length && round < 20; round++) {
        const hands: (readonly Delivery[])[] = [];
        for (const worker of workers) hands.push(await worker.gather(t.patience.graceMs / 2));
        const inHand = hands.flat().map(textOf);
        assert.equal(new Set(inHand.map((text) => text[0])).size, inHand.length, `one of a key at a time: ${inHand}`);
        for (const [i, deliveries] of hands.entries()) await workers[i]!.ack(...deliveries);
        seen.push(...inHand);
      }
      for (const key of keys) {
        assert.deepEqual(
          seen.filter((text) => text.startsWith(key)),
          [1, 2, 3, 4].map((n) => `${key}${n}`),
        );
      }
    },
  },
  {
    name: 'keeps the order of a key when its owner dies',
    needs: [ORDER],
    async run(t) {
      const { queue, worker } = await t.begin(keyed('a1', 'a2'), { order: 'key' });
      assert.equal(textOf(await worker.one()), 'a1');
      await t.kill(worker);
      const next = await t.worker(queue, { order: 'key' });
      for (const expected of ['a1', 'a2']) {
        const delivery = await next.one();
        assert.equal(textOf(delivery), expected);
        await next.ack(delivery);
      }
    },
  },
  {
    name: 'lets nothing of a key pass what is held',
    needs: [ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2'), { order: 'key' });
      const held = await worker.one();
      await worker.hold(held);
      await worker.none(t.patience.graceMs);
      await worker.ack(held);
      assert.equal(textOf(await worker.one()), 'a2');
    },
  },
  {
    name: 'lets nothing of a key pass what is retried',
    needs: [ORDER, RETRY_KEEPS_ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2'), { order: 'key' });
      await worker.retry(await worker.one(), t.delayMs(1));
      const again = await worker.one();
      assert.equal(textOf(again), 'a1');
      await worker.ack(again);
      assert.equal(textOf(await worker.one()), 'a2');
    },
  },
  {
    name: 'lets nothing of a key pass what is given back for later',
    needs: [ORDER, RETRY_KEEPS_ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2'), { order: 'key' });
      await worker.release(await worker.one(), t.delayMs(1));
      assert.equal(textOf(await worker.one()), 'a1');
    },
  },
  {
    name: 'lets nothing of a key pass what was published with a delay',
    needs: [ORDER, RETRY_KEEPS_ORDER, PUBLISH_DELAY],
    async run(t) {
      const queue = await t.queue({ ordered: true });
      await t.publish(queue, keyed('a1'), { delayMs: t.delayMs(1) });
      await t.publish(queue, keyed('a2', 'b1'));
      const worker = await t.worker(queue, { order: 'key' });
      const passing = await worker.gather(t.patience.graceMs);
      assert.deepEqual(textsOf(passing), ['b1']);
      await worker.ack(...passing);
      assert.equal(textOf(await worker.one()), 'a1');
    },
  },
  {
    name: 'says of a message that an earlier one of its key is dead',
    needs: [ORDER],
    async run(t) {
      const { worker } = await t.begin(keyed('a1', 'a2', 'b1', 'b2'), { order: 'key' });
      const firsts = await worker.take(2);
      const poison = firsts.find((delivery) => textOf(delivery) === 'a1')!;
      await worker.deadLetter(poison, evidence(poison));
      await worker.ack(...firsts.filter((delivery) => delivery !== poison));
      const seconds = await worker.take(2);
      assert.deepEqual(seconds.map((delivery) => [textOf(delivery), delivery.blocked ?? false]).sort(), [
        ['a2', true],
        ['b2', false],
      ]);
    },
  },
];
