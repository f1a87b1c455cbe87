import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import { evidence, foreignInHex, message, textOf } from '../messages.ts';
import { LEASES, REFUSES_STALE } from '../needs.ts';

export const DEAD_LETTER_CASES: readonly Case[] = [
  {
    name: 'moves a dead letter out of the queue, where its evidence can be read',
    async run(t) {
      const { queue, worker } = await t.begin([message('poison')]);
      const delivery = await worker.one();
      const wanted = evidence(delivery, { reason: 'schema', attempts: 3, why: 'amount: expected a number' });
      await worker.deadLetter(delivery, wanted);
      await worker.none(1.5 * t.leaseMs);
      const { evidence: found } = await t.letter(queue);
      assert.deepEqual(found, wanted);
    },
  },
  {
    name: 'keeps body, headers, key and id of a dead letter',
    async run(t) {
      const headers: [string, string][] = [
        ['trace', '00-af'],
        ['tenant', 'acme'],
      ];
      const { queue, worker } = await t.begin([message('poison', { id: 'evt-81f2', key: 'customer-7', headers })]);
      const delivery = await worker.one();
      await worker.deadLetter(delivery, evidence(delivery));
      const { message: letter } = await t.letter(queue);
      assert.deepEqual(
        {
          body: Buffer.from(letter.body!).toString(),
          id: letter.id,
          key: letter.key,
          headers: foreignInHex(letter.headers).sort(),
        },
        { body: 'poison', id: 'evt-81f2', key: 'customer-7', headers: foreignInHex(headers).sort() },
      );
    },
  },
  {
    name: 'gives a dead letter an id where its message had none',
    async run(t) {
      const { queue, worker } = await t.begin([{ body: Buffer.from('anonymous') }]);
      const delivery = await worker.one();
      await worker.deadLetter(delivery, evidence(delivery));
      const { message: letter } = await t.letter(queue);
      assert.ok(letter.id, 'two copies after a crash could not be told to be one letter');
    },
  },
  {
    name: 'writes a dead letter once, although it is asked to twice',
    async run(t) {
      const { queue, worker } = await t.begin([message('poison')]);
      const delivery = await worker.one();
      await worker.deadLetter(delivery, evidence(delivery));
      await worker.settle({ delivery, verb: 'deadLetter', evidence: evidence(delivery) });
      await t.letter(queue);
    },
  },
  {
    name: 'has the letter when its process dies right after the answer',
    async run(t) {
      const { queue, worker } = await t.begin([message('poison')]);
      const delivery = await worker.one();
      await worker.deadLetter(delivery, evidence(delivery));
      await t.kill(worker);
      await t.letter(queue);
    },
  },
  {
    name: 'writes no letter for a message that is in other hands',
    needs: [LEASES, REFUSES_STALE],
    async run(t) {
      const { queue, worker } = await t.begin([message('not poison')]);
      const late = await worker.one();
      const other = await t.worker(queue);
      const current = await other.one();
      assert.deepEqual(await worker.settle({ delivery: late, verb: 'deadLetter', evidence: evidence(late) }), ['lost']);
      assert.deepEqual(await t.letters(queue), []);
      await other.ack(current);
    },
  },
  {
    name: 'takes evidence of any size and any characters',
    async run(t) {
      const { queue, worker } = await t.begin([message('poison')]);
      const delivery = await worker.one();
      const huge = 'é\u0000"\\\ud83d\ude00'.repeat(2_000);
      const error = {
        name: 'Error',
        message: huge,
        stack: huge,
        causes: [{ name: 'Cause', message: huge, causes: [] }],
      };
      await worker.deadLetter(delivery, evidence(delivery, { why: huge.slice(0, 500), error }));
      const { message: letter, evidence: found } = await t.letter(queue);
      assert.equal(letter.id, delivery.message.id);
      assert.equal(found?.reason, 'poison');
      assert.equal(found?.fingerprint, evidence(delivery).fingerprint);
    },
  },
  {
    name: 'keeps dead letters of many messages apart',
    async run(t) {
      const { queue, worker } = await t.begin([message('p1'), message('p2'), message('p3')]);
      const deliveries = await worker.take(3);
      await worker.settle(
        ...deliveries.map((delivery) => ({
          delivery,
          verb: 'deadLetter' as const,
          evidence: evidence(delivery, { why: `because of ${textOf(delivery)}` }),
        })),
      );
      const letters = await t.letters(queue);
      assert.deepEqual(
        letters.map(({ message: { body }, evidence: found }) => [Buffer.from(body!).toString(), found?.why]).sort(),
        [
          ['p1', 'because of p1'],
          ['p2', 'because of p2'],
          ['p3', 'because of p3'],
        ],
      );
    },
  },
];
