import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, textOf } from '../messages.ts';
import { LEASES, REFUSES_STALE } from '../needs.ts';

export const LEASE_CASES: readonly Case[] = [
  {
    name: 'hides a message while its lease runs',
    needs: [LEASES],
    async run(t) {
      const { queue, worker } = await t.begin([message('leased')]);
      await worker.one();
      const other = await t.worker(queue);
      await other.none(0.7 * t.leaseMs);
    },
  },
  {
    name: 'hands a message out again when its lease has run out',
    needs: [LEASES],
    async run(t) {
      const { queue, worker } = await t.begin([message('leased')]);
      await worker.one();
      const other = await t.worker(queue);
      assert.equal(textOf(await other.one()), 'leased');
    },
  },
  {
    name: 'says at the hand-out how much of the lease is left',
    needs: [LEASES],
    async run(t) {
      const { worker } = await t.begin([message('leased')]);
      const { leaseMs = 0 } = await worker.one();
      assert.ok(leaseMs > 0 && leaseMs <= t.leaseMs, `${leaseMs} of ${t.leaseMs} ms`);
    },
  },
  {
    name: 'counts an extension from now',
    needs: [LEASES],
    async run(t) {
      const { queue, worker } = await t.begin([message('extended')]);
      const delivery = await worker.one();
      await t.pass(0.6 * t.leaseMs);
      assert.deepEqual(await worker.extend({ delivery, leaseMs: t.leaseMs }), ['done']);
      const other = await t.worker(queue);
      await other.none(0.6 * t.leaseMs);
      await worker.ack(delivery);
      await other.none(1.5 * t.leaseMs);
    },
  },
  {
    name: 'does not add extensions up',
    needs: [LEASES],
    async run(t) {
      const { queue, worker } = await t.begin([message('extended')]);
      const delivery = await worker.one();
      for (let n = 0; n < 10; n++) await worker.extend({ delivery, leaseMs: t.leaseMs });
      const other = await t.worker(queue);
      assert.equal(textOf(await other.one(2.5 * t.leaseMs)), 'extended');
    },
  },
  {
    name: 'refuses to extend what is in other hands',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { queue, worker } = await t.begin([message('passed on')]);
      const late = await worker.one();
      const other = await t.worker(queue);
      const current = await other.one();
      assert.deepEqual(await worker.extend({ delivery: late, leaseMs: t.leaseMs }), ['lost']);
      await other.ack(current);
    },
  },
  {
    name: 'extends the rest of a batch in which one was lost',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { queue, worker } = await t.begin([message('gone'), message('kept')]);
      const deliveries = await worker.take(2);
      const gone = deliveries.find((delivery) => textOf(delivery) === 'gone')!;
      const kept = deliveries.find((delivery) => textOf(delivery) === 'kept')!;
      await worker.ack(gone);
      const results = await worker.extend(
        { delivery: gone, leaseMs: t.leaseMs },
        { delivery: kept, leaseMs: 3 * t.leaseMs },
      );
      assert.deepEqual(results, ['lost', 'done']);
      const other = await t.worker(queue);
      await other.none(1.5 * t.leaseMs);
      await worker.ack(kept);
    },
  },
  {
    name: 'ends a lease with the settlement, not with the heartbeat before it',
    needs: [LEASES],
    async run(t) {
      const { queue, worker } = await t.begin([message('back soon')]);
      const delivery = await worker.one();
      await worker.extend({ delivery, leaseMs: 3 * t.leaseMs });
      await worker.release(delivery);
      const other = await t.worker(queue);
      assert.equal(textOf(await other.one(t.patience.graceMs)), 'back soon');
    },
  },
];
