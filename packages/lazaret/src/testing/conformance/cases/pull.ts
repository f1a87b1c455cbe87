import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, messages, textOf, textsOf, textsOfMessages } from '../messages.ts';
import { PUBLISH_DELAY } from '../needs.ts';

export const PULL_CASES: readonly Case[] = [
  {
    name: 'brings at most as many messages as it was asked for',
    async run(t) {
      const { worker } = await t.begin(messages(7));
      let brought = 0;
      for (let pulls = 0; brought < 7 && pulls < 20; pulls++) {
        const pulled = await t.soon('pull', worker.pull(2));
        assert.ok(pulled.length <= 2, `asked for 2, got ${pulled.length}`);
        brought += pulled.length;
      }
      assert.equal(brought, 7);
    },
  },
  {
    name: 'answers with an empty list when the queue stays empty',
    async run(t) {
      const worker = await t.worker(await t.queue());
      const pulled = await t.soon('pull', worker.pull(5), worker.options.waitMs + t.leaseMs);
      assert.deepEqual(pulled, []);
    },
  },
  {
    name: 'wakes a waiting pull when a message arrives',
    async run(t) {
      const queue = await t.queue();
      const worker = await t.worker(queue, { waitMs: t.patience.longMs });
      const pull = worker.pull(5);
      await t.pass(t.delayMs(0.2));
      await t.publish(queue, [message('late')]);
      const pulled = await t.soon('a pull that has something to bring', pull, t.patience.graceMs);
      assert.deepEqual(pulled.map(textOf), ['late']);
    },
  },
  {
    name: 'wakes a waiting pull when a delayed message falls due',
    needs: [PUBLISH_DELAY],
    async run(t) {
      const queue = await t.queue();
      await t.publish(queue, [message('later')], { delayMs: t.delayMs(0.5) });
      const worker = await t.worker(queue, { waitMs: t.patience.longMs });
      const pull = worker.pull(5);
      const pulled = await t.soon('a pull that has something to bring', pull, t.delayMs(0.5) + t.patience.graceMs);
      assert.deepEqual(pulled.map(textOf), ['later']);
    },
  },
  {
    name: 'asks for nothing when the signal was given before',
    async run(t) {
      const { worker } = await t.begin([message('stays')]);
      const pulled = await t.soon('pull', worker.pull(5, AbortSignal.abort()), t.patience.graceMs);
      assert.deepEqual(pulled, []);
      assert.equal(textOf(await worker.one(t.patience.graceMs)), 'stays');
    },
  },
  {
    name: 'loses nothing to a pull that was told to ask no more',
    async run(t) {
      const queue = await t.queue();
      const worker = await t.worker(queue);
      const asking = new AbortController();
      const pull = worker.pull(5, asking.signal);
      await t.pass(0);
      asking.abort();
      await t.publish(queue, [message('between')]);
      const brought = [...(await t.soon('a pull after its signal', pull, worker.options.waitMs + t.patience.graceMs))];
      if (brought.length === 0) brought.push(await worker.one(t.patience.graceMs));
      assert.deepEqual(
        brought.map(textOf),
        ['between'],
        'brought by that pull, or by the next within less than a lease',
      );
    },
  },
  {
    name: 'hands each message to one consumer only',
    async run(t) {
      const { queue, worker } = await t.begin([]);
      const workers = [worker, await t.worker(queue), await t.worker(queue)];
      await t.publish(queue, messages(30));
      const seen: string[] = [];
      for (let round = 0; seen.length < 30 && round < 20; round++) {
        const pulls = workers.map((each) => each.pull(7));
        for (const [i, pull] of pulls.entries()) {
          const pulled = await t.soon('pull', pull);
          seen.push(...pulled.map(textOf));
          await workers[i]!.ack(...pulled);
        }
      }
      assert.deepEqual(seen.sort(), textsOfMessages(30));
      for (const each of workers) await each.none(t.patience.graceMs);
    },
  },
  {
    name: 'brings no more of a queue than was published to it',
    async run(t) {
      const { worker } = await t.begin([message('mine')]);
      const { worker: neighbour } = await t.begin([message('yours')]);
      assert.deepEqual(textsOf(await worker.gather(t.patience.graceMs)), ['mine']);
      assert.deepEqual(textsOf(await neighbour.gather(t.patience.graceMs)), ['yours']);
    },
  },
  {
    name: 'describes a first delivery: where it is from, attempt 1, first seen just now',
    async run(t) {
      const publishedAt = t.harness.system.now();
      const { queue, worker } = await t.begin([message('first')]);
      const { attempt, strikes = 0, deliveries = 1, firstSeenAt, source } = await worker.one();
      assert.deepEqual(
        { attempt, strikes, deliveries, queue: source.queue },
        { attempt: 1, strikes: 0, deliveries: 1, queue },
      );
      assert.ok(
        Math.abs(firstSeenAt - publishedAt) < 60_000,
        `first seen ${firstSeenAt - publishedAt} ms after publishing`,
      );
    },
  },
  {
    name: 'hands out plain data',
    async run(t) {
      const { worker } = await t.begin([message('plain', { headers: [['a', 'b']], key: 'k' })]);
      const { receipt: _, ...delivery } = await worker.one();
      assert.doesNotThrow(() => structuredClone(delivery), 'methods cannot be handed to another process');
    },
  },
];
