import assert from 'node:assert/strict';
import type { Settlement } from '../../../ports/broker.ts';
import type { Case } from '../case.ts';
import { evidence, message, messages, textOf, textsOf } from '../messages.ts';
import { ANSWERED_ACKS, COUNTS_FAILURES, LEASES, REFUSES_STALE, STAYS } from '../needs.ts';

export const SETTLE_CASES: readonly Case[] = [
  {
    name: 'forgets what was acknowledged',
    async run(t) {
      const { queue, worker } = await t.begin([message('done')]);
      await worker.ack(await worker.one());
      await worker.none(1.5 * t.leaseMs);
      const other = await t.worker(queue);
      await other.none(t.patience.graceMs);
    },
  },
  {
    name: 'has forgotten it also when its process dies right after the answer',
    needs: [ANSWERED_ACKS],
    async run(t) {
      const { queue, worker } = await t.begin([message('done')]);
      await worker.ack(await worker.one());
      await t.kill(worker);
      const next = await t.worker(queue);
      await next.none(2 * t.leaseMs);
    },
  },
  {
    name: 'charges a retry, and nothing but a retry',
    needs: [COUNTS_FAILURES],
    async run(t) {
      const { worker } = await t.begin([message('failing')]);
      for (const attempt of [1, 2, 3]) {
        const delivery = await worker.one();
        assert.equal(delivery.attempt, attempt);
        await worker.retry(delivery);
      }
    },
  },
  {
    name: 'remembers what was charged when the next owner dies',
    needs: [COUNTS_FAILURES],
    async run(t) {
      const { queue, worker } = await t.begin([message('failing')]);
      await worker.retry(await worker.one());
      await worker.one();
      await t.kill(worker);
      const next = await t.worker(queue);
      assert.equal((await next.one()).attempt, 2);
    },
  },
  {
    name: 'never counts beyond the last attempt',
    needs: [COUNTS_FAILURES],
    async run(t) {
      const { worker } = await t.begin([message('failing')], { maxAttempts: 2 });
      for (let n = 0; n < 3; n++) await worker.retry(await worker.one());
      assert.equal((await worker.one()).attempt, 2);
    },
  },
  {
    name: 'spends no attempt on what is given back',
    needs: [COUNTS_FAILURES],
    async run(t) {
      const { worker } = await t.begin([message('released')]);
      await worker.retry(await worker.one());
      await worker.release(await worker.one(), t.delayMs(0.1));
      assert.equal((await worker.one()).attempt, 2);
    },
  },
  {
    name: 'gives back at once what is released without a delay',
    async run(t) {
      const { worker } = await t.begin([message('released')]);
      await worker.release(await worker.one());
      assert.equal(textOf(await worker.one(t.patience.graceMs)), 'released');
    },
  },
  {
    name: 'keeps what is held for us, and settles it afterwards',
    needs: [STAYS],
    async run(t) {
      const { queue, worker } = await t.begin([message('held')]);
      const held = await worker.one();
      await worker.hold(held);
      const other = await t.worker(queue);
      await other.none(t.patience.graceMs);
      if (t.capabilities.lease) await worker.extend({ delivery: held, leaseMs: t.leaseMs });
      await worker.ack(held);
      await worker.none(1.5 * t.leaseMs);
    },
  },
  {
    name: 'keeps the time at which a message was first seen over retries and crashes',
    async run(t) {
      const { queue, worker } = await t.begin([message('old')]);
      const { firstSeenAt, ...first } = await worker.one();
      await t.pass(0.5 * t.leaseMs);
      await worker.retry({ firstSeenAt, ...first });
      assert.equal((await worker.one()).firstSeenAt, firstSeenAt);
      await t.kill(worker);
      const next = await t.worker(queue);
      assert.equal((await next.one()).firstSeenAt, firstSeenAt);
    },
  },
  {
    name: 'answers a batch in its order',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { worker } = await t.begin(messages(4));
      const deliveries = await worker.take(4);
      await worker.ack(deliveries[1]!);
      const results = await worker.settle(...deliveries.map((delivery) => ({ delivery, verb: 'ack' as const })));
      assert.deepEqual(results, ['done', 'lost', 'done', 'done']);
    },
  },
  {
    name: 'harms no neighbour when one of a batch was settled before',
    async run(t) {
      const { queue, worker } = await t.begin([...messages(4), message('before')]);
      const deliveries = await worker.take(5);
      const before = deliveries.find((delivery) => textOf(delivery) === 'before')!;
      const [m1, m2, m3, m4] = deliveries.filter((delivery) => delivery !== before);
      await worker.ack(before);
      const batch: Settlement[] = [
        { delivery: m1!, verb: 'ack' },
        { delivery: before, verb: 'ack' },
        { delivery: m2!, verb: 'retry', delayMs: 0 },
        { delivery: m3!, verb: 'deadLetter', evidence: evidence(m3!) },
        { delivery: m4!, verb: 'release', delayMs: t.delayMs(0.1) },
      ];
      const results = await worker.settle(...batch);
      assert.deepEqual([results.length, ...results.filter((_, i) => i !== 1)], [5, 'done', 'done', 'done', 'done']);
      const back: string[] = [];
      for (let n = 0; n < 2; n++) {
        const delivery = await worker.one();
        back.push(textOf(delivery));
        await worker.ack(delivery);
      }
      assert.deepEqual(back.sort(), textsOf([m2!, m4!]));
      await t.letter(queue);
    },
  },
  {
    name: 'refuses a settle that comes too late, and disturbs no new owner',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { queue, worker } = await t.begin([message('passed on')]);
      const late = await worker.one();
      const other = await t.worker(queue);
      const current = await other.one();
      for (const verb of ['ack', 'retry', 'release'] as const) {
        const settlement: Settlement = verb === 'ack' ? { delivery: late, verb } : { delivery: late, verb, delayMs: 0 };
        assert.deepEqual(await worker.settle(settlement), ['lost'], verb);
      }
      await worker.none(t.patience.graceMs / 2);
      await other.ack(current);
      await worker.none(1.5 * t.leaseMs);
    },
  },
  {
    name: 'gives a retry that is asked for twice no second effect',
    async run(t) {
      const { worker } = await t.begin([message('once')]);
      const delivery = await worker.one();
      await worker.retry(delivery, t.delayMs(0.1));
      await worker.settle({ delivery, verb: 'retry', delayMs: t.delayMs(0.1) });
      await worker.ack(await worker.one());
      await worker.none(t.delayMs(0.1) + t.patience.graceMs);
    },
  },
  {
    name: 'settles a large batch of all kinds',
    async run(t) {
      const { queue, worker } = await t.begin(messages(60), { prefetch: 60 });
      const deliveries = await worker.take(60);
      const results = await worker.settle(
        ...deliveries.map((delivery, i): Settlement => {
          if (i % 3 === 0) return { delivery, verb: 'ack' };
          if (i % 3 === 1) return { delivery, verb: 'retry', delayMs: 0 };
          return { delivery, verb: 'deadLetter', evidence: evidence(delivery) };
        }),
      );
      assert.deepEqual(new Set(results), new Set(['done']));
      const retried = deliveries.filter((_, i) => i % 3 === 1);
      assert.deepEqual(textsOf(await worker.take(20)), textsOf(retried));
      assert.equal((await t.letters(queue)).length, 20);
    },
  },
  {
    name: 'has nothing to say to an empty batch',
    async run(t) {
      const { worker } = await t.begin([]);
      assert.deepEqual(await worker.settle(), []);
      assert.deepEqual(await worker.extend(), []);
    },
  },
];
