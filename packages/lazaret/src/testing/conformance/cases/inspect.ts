import assert from 'node:assert/strict';
import type { QueueFacts } from '../../../ports/broker.ts';
import type { Case } from '../case.ts';
import { evidence, message, messages } from '../messages.ts';
import { BROWSE, PUBLISH_DELAY } from '../needs.ts';
import type { Trial } from '../trial.ts';

async function factsOf(t: Trial, queue: string): Promise<QueueFacts> {
  const broker = await t.publisher();
  return t.soon('inspect', broker.inspect(queue));
}

/** What is known must be right, or, where all of it is estimated, possible. What can't be known must be absent: zero would be a lie. */
function assertCount(facts: QueueFacts, name: 'ready' | 'delayed' | 'leased' | 'dead', expected: number): void {
  const count = facts[name];
  if (count === undefined) return;
  assert.ok(Number.isInteger(count) && count >= 0, `${name}: ${count}`);
  if (!facts.approximate) assert.equal(count, expected, name);
}

export const INSPECT_CASES: readonly Case[] = [
  {
    name: 'counts what is ready, and in whose hands the rest is',
    async run(t) {
      const { queue, worker } = await t.begin(messages(5), { prefetch: 2 });
      await worker.take(2);
      const facts = await factsOf(t, queue);
      assertCount(facts, 'leased', 2);
      assertCount(facts, 'ready', 3);
      assertCount(facts, 'delayed', 0);
      assertCount(facts, 'dead', 0);
    },
  },
  {
    name: 'counts what is delayed',
    needs: [PUBLISH_DELAY],
    async run(t) {
      const queue = await t.queue();
      await t.publish(queue, messages(3), { delayMs: t.delayMs(4) });
      const facts = await factsOf(t, queue);
      assertCount(facts, 'delayed', 3);
      assertCount(facts, 'ready', 0);
    },
  },
  {
    name: 'counts what is dead',
    async run(t) {
      const { queue, worker } = await t.begin(messages(2));
      for (const delivery of await worker.take(2)) await worker.deadLetter(delivery, evidence(delivery));
      assertCount(await factsOf(t, queue), 'dead', 2);
    },
  },
  {
    name: 'knows how old the oldest message is that is ready, or says nothing',
    async run(t) {
      const publishedAt = t.harness.system.now();
      const { queue } = await t.begin(messages(2), { prefetch: 1 });
      const { oldestAt } = await factsOf(t, queue);
      if (oldestAt !== undefined) assert.ok(Math.abs(oldestAt - publishedAt) < 60_000, `${oldestAt - publishedAt} ms`);
      const empty = await factsOf(t, await t.queue());
      assert.equal(empty.oldestAt, undefined, 'an empty queue has no oldest message');
    },
  },
  {
    name: 'browses page by page, the oldest first',
    needs: [BROWSE],
    async run(t) {
      const queue = await t.queue();
      for (const outgoing of messages(5)) await t.publish(queue, [outgoing]);
      const broker = await t.publisher();
      const ids: (string | undefined)[] = [];
      let from: string | undefined;
      let pages = 0;
      do {
        const page = await t.soon('browse', broker.browse!(queue, from, 2));
        assert.ok(page.items.length <= 2);
        ids.push(...page.items.map(({ id }) => id));
        from = page.next;
      } while (from !== undefined && ++pages < 10);
      assert.deepEqual(
        ids,
        messages(5).map(({ id }) => id),
      );
    },
  },
  {
    name: 'neither takes nor counts what it browses',
    needs: [BROWSE],
    async run(t) {
      const queue = await t.queue();
      await t.publish(queue, [message('looked at')]);
      const broker = await t.publisher();
      for (let n = 0; n < 3; n++) {
        const { items } = await t.soon('browse', broker.browse!(queue, undefined, 10));
        assert.equal(items.length, 1);
      }
      const worker = await t.worker(queue);
      const { attempt, strikes = 0, deliveries = 1 } = await worker.one(t.patience.graceMs);
      assert.deepEqual({ attempt, strikes, deliveries }, { attempt: 1, strikes: 0, deliveries: 1 });
    },
  },
  {
    name: 'has nothing left to provision the second time',
    async run(t) {
      const queue = await t.queue();
      const broker = await t.publisher();
      const wanted = { retryDelaysMs: [2_000, 8_000, 30_000] };
      const first = await t.soon('provision', broker.provision(queue, wanted));
      await t.soon('apply', first.apply());
      const second = await t.soon('provision', broker.provision(queue, wanted));
      assert.deepEqual(second.steps, []);
    },
  },
  {
    name: 'promises a publisher what it promises a consumer',
    async run(t) {
      const { queue, worker } = await t.begin([]);
      const capabilities = await t.soon('capabilities', worker.broker.capabilities(queue));
      assert.deepEqual(capabilities, worker.subscription.capabilities);
      assert.ok(capabilities.delayGrainMs > 0 && capabilities.maxDelayMs >= capabilities.delayGrainMs);
    },
  },
];
