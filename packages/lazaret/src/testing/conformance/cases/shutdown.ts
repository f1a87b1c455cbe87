import assert from 'node:assert/strict';
import { isLazaretError } from '../../../core/errors.ts';
import type { Case } from '../case.ts';
import { message, messages, textOf, textsOf } from '../messages.ts';
import { CUT } from '../needs.ts';
import type { Trial } from '../trial.ts';

async function assertClosed(t: Trial, what: string, work: () => Promise<unknown>): Promise<void> {
  const outcome = t.soon(what, Promise.resolve().then(work)).then(
    () => 'no error',
    (error: unknown) => (isLazaretError(error) ? error.code : error),
  );
  assert.equal(await outcome, 'LZ1102', `${what} after close`);
}

export const SHUTDOWN_CASES: readonly Case[] = [
  {
    name: 'gives back at close what was never handed out, at once',
    async run(t) {
      const { queue, worker } = await t.begin(messages(10), { prefetch: 10 });
      await worker.ack(await worker.one());
      await worker.close();
      const other = await t.worker(queue);
      await other.take(9, t.patience.graceMs);
    },
  },
  {
    name: 'ends waiting pulls at close, and swallows nothing with them',
    async run(t) {
      const queue = await t.queue();
      const worker = await t.worker(queue);
      const pull = worker.pull(5);
      await t.pass(0);
      await worker.close();
      assert.ok(await t.isSettled(pull, 0), 'closed, and a pull is still open');
      const brought = await pull;
      await t.publish(queue, [message('after')]);
      const other = await t.worker(queue);
      assert.deepEqual(brought, []);
      assert.equal(textOf(await other.one(t.patience.graceMs)), 'after');
    },
  },
  {
    name: 'has acknowledged before the end of close what it said it had',
    async run(t) {
      const { queue, worker } = await t.begin(messages(5));
      await worker.ack(...(await worker.take(5)));
      await worker.close();
      const other = await t.worker(queue);
      await other.none(1.5 * t.leaseMs);
    },
  },
  {
    name: 'loses nothing that is in hand at close',
    async run(t) {
      const { queue, worker } = await t.begin([message('in hand')]);
      await worker.one();
      await worker.close();
      const other = await t.worker(queue);
      assert.equal(textOf(await other.one()), 'in hand');
    },
  },
  {
    name: 'leaves other consumers of the same client alone at close',
    async run(t) {
      const { queue, worker } = await t.begin([]);
      const neighbour = await t.worker(queue, {}, worker.broker);
      await worker.close();
      await t.publish(queue, [message('still there')]);
      const delivery = await neighbour.one();
      await neighbour.ack(delivery);
      assert.equal(textOf(delivery), 'still there');
    },
  },
  {
    name: 'refuses every verb of a closed consumer with LZ1102',
    async run(t) {
      const { worker } = await t.begin([message('in hand')]);
      const delivery = await worker.one();
      await worker.close();
      const { subscription } = worker;
      await assertClosed(t, 'pull', () => subscription.pull(1, new AbortController().signal));
      await assertClosed(t, 'settle', () => subscription.settle([{ delivery, verb: 'ack' }]));
      await assertClosed(t, 'extend', () => subscription.extend([{ delivery, leaseMs: t.leaseMs }]));
    },
  },
  {
    name: 'refuses every verb of a closed client with LZ1102',
    async run(t) {
      const { queue, worker } = await t.begin([]);
      const { broker, subscription, options } = worker;
      await t.soon('close', broker.close());
      await assertClosed(t, 'pull', () => subscription.pull(1, new AbortController().signal));
      await assertClosed(t, 'subscribe', () => broker.subscribe(queue, options));
      await assertClosed(t, 'publish', () => broker.publish(queue, [message('late')]));
      await assertClosed(t, 'inspect', () => broker.inspect(queue));
      await assertClosed(t, 'provision', () => broker.provision(queue, {}));
    },
  },
  {
    name: 'can be closed twice',
    async run(t) {
      const { worker } = await t.begin([]);
      await worker.close();
      await worker.close();
      await t.soon('close', worker.broker.close());
      await t.soon('close', worker.broker.close());
    },
  },
  {
    name: 'can be closed while its connection is cut',
    needs: [CUT],
    async run(t) {
      const { queue, worker } = await t.begin(messages(3));
      await worker.one();
      await t.cut(worker);
      await worker.close();
      const other = await t.worker(queue);
      assert.deepEqual(textsOf(await other.take(3)), ['m1', 'm2', 'm3']);
    },
  },
];
