import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, messages, textOf, textsOf } from '../messages.ts';
import { CUT, LEASES, REFUSES_STALE } from '../needs.ts';

export const LOST_CASES: readonly Case[] = [
  {
    name: 'tells at once what a cut connection took, without being asked',
    needs: [CUT],
    async run(t) {
      const { worker } = await t.begin(messages(2));
      const deliveries = await worker.take(2);
      await t.cut(worker);
      assert.ok(await t.eventually(() => deliveries.every((delivery) => worker.isTold(delivery))), 'told of both');
    },
  },
  {
    name: 'tells a loss before a settle of it fails',
    needs: [CUT],
    async run(t) {
      const { worker } = await t.begin([message('cut')]);
      const delivery = await worker.one();
      await t.cut(worker);
      const results = await worker.settle({ delivery, verb: 'ack' });
      if (results[0] === 'lost') assert.ok(worker.isTold(delivery), 'lost, and not told');
    },
  },
  {
    name: 'tells a loss once',
    needs: [CUT],
    async run(t) {
      const { worker } = await t.begin([message('cut')]);
      const delivery = await worker.one();
      await t.cut(worker);
      await worker.settle({ delivery, verb: 'ack' });
      await worker.gather(t.leaseMs);
      assert.equal(worker.lost.filter(({ receipt }) => receipt === delivery.receipt).length, 1);
    },
  },
  {
    name: 'calls nothing lost that was settled, or never handed out',
    needs: [CUT],
    async run(t) {
      const { worker } = await t.begin(messages(5));
      const [settled, held] = await worker.take(2);
      await worker.ack(settled!);
      await t.cut(worker);
      await t.eventually(() => worker.lost.length > 1);
      assert.deepEqual(worker.lost.map(textOf), [textOf(held!)]);
    },
  },
  {
    name: 'comes back by itself after a cut, and brings what it took',
    needs: [CUT],
    async run(t) {
      const { queue, worker } = await t.begin([message('cut')]);
      await worker.one();
      await t.cut(worker);
      await t.publish(queue, [message('after')]);
      assert.deepEqual(textsOf(await worker.take(2)), ['after', 'cut']);
    },
  },
  {
    name: 'refuses after a cut what was handed out before it',
    needs: [CUT],
    async run(t) {
      const { worker } = await t.begin([message('cut')]);
      const before = await worker.one();
      await t.cut(worker);
      const after = await worker.one();
      assert.deepEqual(await worker.settle({ delivery: before, verb: 'ack' }), ['lost']);
      assert.deepEqual(await worker.extend({ delivery: before, leaseMs: t.leaseMs }), ['lost']);
      await worker.ack(after);
    },
  },
  {
    name: 'keeps a waiting pull waiting over a cut',
    needs: [CUT],
    async run(t) {
      const queue = await t.queue();
      const worker = await t.worker(queue, { waitMs: t.patience.longMs });
      const pull = worker.pull(5);
      await t.pass(0);
      await t.cut(worker);
      await t.publish(queue, [message('after')]);
      assert.deepEqual((await t.soon('a pull that has something to bring', pull)).map(textOf), ['after']);
    },
  },
  {
    name: 'tells that a lease has run out before a settle of it fails',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { worker } = await t.begin([message('slow')]);
      const delivery = await worker.one();
      await t.pass(1.5 * t.leaseMs);
      assert.deepEqual(await worker.settle({ delivery, verb: 'ack' }), ['lost']);
      assert.ok(worker.isTold(delivery), 'lost, and not told');
    },
  },
  {
    name: 'calls nothing lost whose lease was extended or ended in time',
    needs: [LEASES],
    async run(t) {
      const { worker } = await t.begin([message('extended'), message('settled')]);
      const deliveries = await worker.take(2);
      await worker.ack(deliveries.find((delivery) => textOf(delivery) === 'settled')!);
      const delivery = deliveries.find((candidate) => textOf(candidate) === 'extended')!;
      await worker.extend({ delivery, leaseMs: 3 * t.leaseMs });
      await t.pass(2 * t.leaseMs);
      await worker.ack(delivery);
      assert.deepEqual(worker.lost, []);
    },
  },
];
