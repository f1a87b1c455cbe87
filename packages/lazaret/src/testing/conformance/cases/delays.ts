import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, textOf } from '../messages.ts';
import { PUBLISH_DELAY } from '../needs.ts';
import type { Trial } from '../trial.ts';
import type { Worker } from '../worker.ts';

/** Clocks of servers count whole milliseconds. */
const ROUNDING_MS = 2;

/** Asserts that the next message comes after at least `delayMs`, counted from `since`, and not much later. */
async function assertComesAfter(t: Trial, worker: Worker, delayMs: number, since: number): Promise<void> {
  await worker.one(delayMs + t.patience.longMs);
  const took = worker.pulledAt - since;
  assert.ok(took >= delayMs - ROUNDING_MS, `asked for ${delayMs} ms, came early, after ${took} ms`);
  const latest = delayMs + t.capabilities.delayGrainMs + t.patience.graceMs;
  assert.ok(took <= latest, `asked for ${delayMs} ms, came late, after ${took} ms`);
}

const FOUR_HUNDRED_DAYS_MS = 400 * 24 * 3_600_000;

export const DELAY_CASES: readonly Case[] = [
  ...([0.1, 0.5, 1.5] as const).map(
    (share): Case => ({
      name: `brings a retry after ${share} leases, never early`,
      async run(t) {
        const { worker } = await t.begin([message('again')]);
        const delivery = await worker.one();
        const since = t.now();
        await worker.retry(delivery, t.delayMs(share));
        await assertComesAfter(t, worker, t.delayMs(share), since);
      },
    }),
  ),
  {
    name: 'brings what was given back after its delay, never early',
    async run(t) {
      const { worker } = await t.begin([message('again')]);
      const delivery = await worker.one();
      const since = t.now();
      await worker.release(delivery, t.delayMs(0.6));
      await assertComesAfter(t, worker, t.delayMs(0.6), since);
    },
  },
  {
    name: 'brings what was published with a delay after it, never early',
    needs: [PUBLISH_DELAY],
    async run(t) {
      const queue = await t.queue();
      const worker = await t.worker(queue);
      const since = t.now();
      await t.publish(queue, [message('later')], { delayMs: t.delayMs(0.6) });
      await assertComesAfter(t, worker, t.delayMs(0.6), since);
    },
  },
  {
    name: 'keeps a delay when the process that asked for it dies',
    async run(t) {
      const { queue, worker } = await t.begin([message('again')]);
      const delivery = await worker.one();
      const since = t.now();
      await worker.retry(delivery, t.delayMs(0.8));
      await t.kill(worker);
      const next = await t.worker(queue);
      const again = await next.one();
      assert.equal(textOf(again), 'again');
      const took = next.pulledAt - since;
      assert.ok(took >= t.delayMs(0.8) - ROUNDING_MS, `came early, after ${took} ms`);
    },
  },
  {
    name: 'lets others pass what is delayed',
    async run(t) {
      const { worker } = await t.begin([message('slow'), message('quick')]);
      const deliveries = await worker.take(2);
      for (const delivery of deliveries) {
        await worker.retry(delivery, textOf(delivery) === 'slow' ? t.delayMs(4) : t.delayMs(0.2));
      }
      const quick = await worker.one();
      assert.equal(textOf(quick), 'quick');
      await worker.ack(quick);
      await worker.none(t.leaseMs);
    },
  },
  {
    name: 'takes the longest delay that it promises, and does not bring it at once',
    async run(t) {
      const { worker } = await t.begin([message('next year')]);
      const delivery = await worker.one();
      const leftMs =
        delivery.delayCapAt === undefined ? Number.POSITIVE_INFINITY : delivery.delayCapAt - t.harness.system.now();
      const longestMs = Math.min(t.capabilities.maxDelayMs, FOUR_HUNDRED_DAYS_MS, leftMs);
      const { delayGrainMs } = t.capabilities;
      await worker.retry(delivery, Math.floor(longestMs / delayGrainMs - 1) * delayGrainMs);
      await worker.none(2 * t.leaseMs);
    },
  },
  {
    name: 'carries the time before which a staged retry is not due',
    async run(t) {
      const { worker } = await t.begin([message('staged')]);
      const notBefore = Math.ceil(t.harness.system.now() + 3_600_000);
      await worker.retry(await worker.one(), t.delayMs(0.1), notBefore);
      assert.equal((await worker.one()).notBefore, notBefore);
    },
  },
  {
    name: 'carries the time before which a staged release is not due',
    async run(t) {
      const { worker } = await t.begin([message('staged')]);
      const notBefore = Math.ceil(t.harness.system.now() + 3_600_000);
      await worker.release(await worker.one(), t.delayMs(0.1), notBefore);
      assert.equal((await worker.one()).notBefore, notBefore);
    },
  },
  {
    name: 'forgets that time with the next retry that is not staged',
    async run(t) {
      const { worker } = await t.begin([message('staged')]);
      await worker.retry(await worker.one(), t.delayMs(0.1), Math.ceil(t.harness.system.now() + 3_600_000));
      await worker.retry(await worker.one(), t.delayMs(0.1));
      assert.equal((await worker.one()).notBefore, undefined);
    },
  },
];
