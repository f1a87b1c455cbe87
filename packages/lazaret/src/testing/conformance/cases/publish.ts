import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, messages, textsOf, textsOfMessages } from '../messages.ts';
import { DEDUPE } from '../needs.ts';

export const PUBLISH_CASES: readonly Case[] = [
  {
    name: 'delivers each message of a large batch once',
    async run(t) {
      const { worker } = await t.begin(messages(250), { prefetch: 250 });
      const delivered: string[] = [];
      for (let round = 0; delivered.length < 250 && round < 50; round++) {
        const deliveries = await worker.gather(t.patience.graceMs);
        delivered.push(...textsOf(deliveries));
        await worker.ack(...deliveries);
      }
      assert.deepEqual(delivered.sort(), textsOfMessages(250));
      await worker.none(t.patience.graceMs);
    },
  },
  {
    name: 'has stored what it confirmed when the publisher dies right after',
    async run(t) {
      const queue = await t.queue();
      const publisher = await t.worker(await t.queue());
      const published = publisher.broker.publish(queue, messages(3));
      assert.deepEqual(await t.soon('publish', published), ['done', 'done', 'done']);
      await t.kill(publisher);
      const worker = await t.worker(queue);
      assert.deepEqual(textsOf(await worker.take(3)), ['m1', 'm2', 'm3']);
    },
  },
  {
    name: 'answers each message of a batch, also where one cannot be stored',
    async run(t) {
      const queue = await t.queue();
      const tooLarge = message('large', { headers: [['h', 'x'.repeat(t.capabilities.headerBudgetBytes + 1)]] });
      const results = await t.tryPublish(queue, [message('before'), tooLarge, message('after')]);
      assert.deepEqual([results.length, results[0], results[2]], [3, 'done', 'done']);
      const stored = results[1] === 'done' ? ['after', 'before', 'large'] : ['after', 'before'];
      const worker = await t.worker(queue);
      assert.deepEqual(textsOf(await worker.take(stored.length)), stored);
      await worker.none(t.patience.graceMs);
    },
  },
  {
    name: 'has nothing to say to an empty batch of messages',
    async run(t) {
      assert.deepEqual(await t.tryPublish(await t.queue(), []), []);
    },
  },
  {
    name: 'keeps an id and a key, also over a retry',
    async run(t) {
      const { worker } = await t.begin([message('named', { id: 'evt-81f2', key: 'customer-7' })]);
      const first = await worker.one();
      assert.deepEqual([first.message.id, first.message.key], ['evt-81f2', 'customer-7']);
      await worker.retry(first);
      const { message: again } = await worker.one();
      assert.deepEqual([again.id, again.key], ['evt-81f2', 'customer-7']);
    },
  },
  {
    name: 'keeps the id of a message that brought none from its first retry on',
    async run(t) {
      const { worker } = await t.begin([{ body: Buffer.from('anonymous') }]);
      await worker.retry(await worker.one());
      const second = await worker.one();
      assert.ok(second.message.id, 'a copy of ours has an id');
      await worker.retry(second);
      assert.equal((await worker.one()).message.id, second.message.id);
    },
  },
  {
    name: 'stores nothing twice under one dedupe id, and answers done',
    needs: [DEDUPE],
    async run(t) {
      const queue = await t.queue();
      await t.publish(queue, [message('first', { dedupeId: 'd-1' }), message('second', { dedupeId: 'd-1' })]);
      await t.publish(queue, [message('third', { dedupeId: 'd-1' }), message('other', { dedupeId: 'd-2' })]);
      const worker = await t.worker(queue);
      assert.deepEqual(textsOf(await worker.gather(t.leaseMs / 2)), ['first', 'other']);
    },
  },
  {
    name: 'keeps dedupe ids of two queues apart',
    needs: [DEDUPE],
    async run(t) {
      const [here, there] = [await t.queue(), await t.queue()];
      await t.publish(here, [message('here', { dedupeId: 'd-1' })]);
      await t.publish(there, [message('there', { dedupeId: 'd-1' })]);
      const worker = await t.worker(there);
      assert.deepEqual(textsOf(await worker.take(1)), ['there']);
    },
  },
  {
    name: 'is not changed by what a publisher or a handler does to its bytes afterwards',
    async run(t) {
      const body = Buffer.from('mine');
      const { worker } = await t.begin([{ id: 'id-mine', body }]);
      body.fill(0);
      const first = await worker.one();
      assert.equal(Buffer.from(first.message.body!).toString(), 'mine');
      first.message.body!.fill(0);
      await worker.release(first);
      assert.equal(Buffer.from((await worker.one()).message.body!).toString(), 'mine');
    },
  },
];
