import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { message, textOf, textsOf } from '../messages.ts';
import { COUNTS_FAILURES, COUNTS_STARTS, OWN_JOURNAL, SETS_ASIDE } from '../needs.ts';
import type { Trial } from '../trial.ts';
import type { Worker } from '../worker.ts';

/** A message whose owner died while it ran, `times` in a row; and a living consumer. */
async function crashed(t: Trial, times: number): Promise<{ readonly queue: string; readonly worker: Worker }> {
  const { queue, worker: first } = await t.begin([message('crasher')]);
  let worker = first;
  for (let n = 0; n < times; n++) {
    await worker.one();
    await t.kill(worker);
    worker = await t.worker(queue);
  }
  return { queue, worker };
}

/** Two crashes, noticed: the message waits to run alone. */
async function suspected(t: Trial): Promise<{ readonly queue: string; readonly worker: Worker }> {
  const { queue, worker } = await crashed(t, 2);
  await worker.none(2 * t.leaseMs);
  return { queue, worker };
}

export const START_CASES: readonly Case[] = [
  {
    name: 'brings back what a dead process held',
    async run(t) {
      const { worker } = await crashed(t, 1);
      assert.equal(textOf(await worker.one()), 'crasher');
    },
  },
  {
    name: 'spends no attempt on a start whose owner vanished',
    needs: [COUNTS_FAILURES],
    async run(t) {
      const { worker } = await crashed(t, 1);
      assert.equal((await worker.one()).attempt, 1);
    },
  },
  {
    name: 'counts a start whose owner vanished as a strike',
    needs: [COUNTS_STARTS],
    async run(t) {
      const { worker } = await crashed(t, 1);
      assert.equal((await worker.one()).strikes, 1);
    },
  },
  {
    name: 'forgets strikes when a start has an outcome',
    needs: [COUNTS_STARTS],
    async run(t) {
      const { worker } = await crashed(t, 1);
      await worker.retry(await worker.one());
      assert.equal((await worker.one()).strikes, 0);
    },
  },
  {
    name: 'counts no strike for what was given back',
    needs: [COUNTS_STARTS],
    async run(t) {
      const { worker } = await t.begin([message('released')]);
      for (let n = 0; n < 3; n++) await worker.release(await worker.one());
      assert.equal((await worker.one()).strikes, 0);
    },
  },
  {
    name: 'sets aside what crashed twice, and tells how many wait',
    needs: [SETS_ASIDE],
    async run(t) {
      const { worker } = await suspected(t);
      assert.equal(worker.suspects, 1);
    },
  },
  {
    name: 'brings a suspect alone, with its strikes',
    needs: [SETS_ASIDE],
    async run(t) {
      const { worker } = await suspected(t);
      const suspect = await worker.alone();
      assert.equal(suspect && textOf(suspect), 'crasher');
      assert.equal(suspect?.strikes, 2);
      assert.equal(suspect?.attempt, 1);
    },
  },
  {
    name: 'brings no suspect twice, and none where none waits',
    needs: [SETS_ASIDE],
    async run(t) {
      const { worker } = await suspected(t);
      const suspect = await worker.alone();
      assert.equal(await worker.alone(), undefined);
      await worker.ack(suspect!);
      assert.equal(await worker.alone(), undefined);
      await worker.none(t.patience.graceMs);
      assert.equal(worker.suspects, 0, 'told that none waits any more');
    },
  },
  {
    name: 'brings nothing alone from a queue without suspects',
    needs: [SETS_ASIDE],
    async run(t) {
      const { worker } = await t.begin([message('innocent')]);
      assert.equal(await worker.alone(), undefined);
      assert.equal(textOf(await worker.one()), 'innocent');
    },
  },
  {
    name: 'counts a crash while alone as one more strike',
    needs: [SETS_ASIDE],
    async run(t) {
      const { queue, worker } = await suspected(t);
      await worker.alone();
      await t.kill(worker);
      const next = await t.worker(queue);
      await next.none(2 * t.leaseMs);
      assert.equal((await next.alone())?.strikes, 3);
    },
  },
  {
    name: 'lets others pass while a suspect waits',
    needs: [SETS_ASIDE],
    async run(t) {
      const { queue, worker } = await suspected(t);
      await t.publish(queue, [message('neighbour')]);
      assert.deepEqual(textsOf(await worker.gather(t.patience.graceMs)), ['neighbour']);
    },
  },
  {
    name: 'makes an ordinary message of a suspect that failed alone',
    needs: [SETS_ASIDE],
    async run(t) {
      const { worker } = await suspected(t);
      await worker.retry((await worker.alone())!);
      const { attempt, strikes = 0 } = await worker.one();
      assert.deepEqual({ attempt, strikes }, { attempt: 2, strikes: 0 });
    },
  },
  {
    name: 'knows a start that was begun when its owner is gone',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { worker } = await crashed(t, 1);
      assert.equal((await worker.one()).strikes, 1);
    },
  },
  {
    name: 'knows nothing of a message that was brought and not begun',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { queue, worker } = await t.begin([message('in the buffer')]);
      await worker.bring();
      await t.kill(worker);
      const next = await t.worker(queue);
      assert.equal((await next.one()).strikes, 0);
    },
  },
  {
    name: 'begins what crashed twice only alone',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { worker } = await crashed(t, 2);
      const suspect = await worker.bring();
      const [among] = await worker.begin([suspect], false);
      assert.deepEqual({ begun: among!.begun, strikes: among!.strikes }, { begun: false, strikes: 2 });
      const [alone] = await worker.begin([suspect], true);
      assert.equal(alone!.begun, true);
      await worker.ack(suspect);
    },
  },
  {
    name: 'counts a suspect that was refused no further',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { queue, worker } = await crashed(t, 2);
      const suspect = await worker.bring();
      await worker.begin([suspect], false);
      await t.kill(worker);
      const next = await t.worker(queue);
      const again = await next.bring();
      const [history] = await next.begin([again], true);
      assert.equal(history!.strikes, 2);
    },
  },
  {
    name: 'forgets a start that was given back',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { queue, worker } = await t.begin([message('released')]);
      await worker.release(await worker.one());
      await t.kill(worker);
      const next = await t.worker(queue);
      assert.equal((await next.one()).strikes, 0);
    },
  },
  {
    name: 'remembers a failure that was charged while the message was held',
    needs: [OWN_JOURNAL],
    async run(t) {
      const { queue, worker } = await t.begin([message('held')]);
      await worker.hold(await worker.one(), true);
      await t.kill(worker);
      const next = await t.worker(queue);
      assert.equal((await next.one()).attempt, 2);
    },
  },
];
