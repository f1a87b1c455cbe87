import assert from 'node:assert/strict';
import type { HeaderList, Message } from '../../../core/message.ts';
import type { Delivery } from '../../../ports/broker.ts';
import type { Case } from '../case.ts';
import { evidence, foreign, foreignInHex, message } from '../messages.ts';
import { COPIES_FAILURES, HEADER_ORDER, NATIVE, NULL_BODY } from '../needs.ts';
import type { Trial } from '../trial.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

const BODIES: readonly (readonly [what: string, body: Uint8Array])[] = [
  ['no bytes', new Uint8Array(0)],
  ['a NUL', utf8('before\u0000after')],
  ['every byte there is, which is no UTF-8', ALL_BYTES],
  ['a byte-order mark and line ends of all kinds', utf8('\ufeffa\r\nb\rc\nd\u2028')],
  ['emoji and combining characters', utf8('👩‍👩‍👧 e\u0301 \u{10ffff}')],
  ['numbers beyond 2^53, as they were written', utf8('{"id": 9007199254740993, "n": 1.0, "e": 1E400, "id": 2}')],
  ['a megabyte', Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * 31) & 0xff)],
];

const HEADERS: readonly (readonly [what: string, headers: HeaderList])[] = [
  [
    'names that repeat',
    [
      ['to', 'first'],
      ['to', 'second'],
      ['to', 'first'],
    ],
  ],
  [
    'names that objects have',
    [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
      ['hasOwnProperty', 'd'],
    ],
  ],
  [
    'names that differ in case',
    [
      ['Trace', 'a'],
      ['trace', 'b'],
    ],
  ],
  [
    'empty values',
    [
      ['empty', ''],
      ['also-empty', ''],
    ],
  ],
  ['text of all planes', [['text', 'ä 漢 😀 \u{10ffff}']]],
  [
    'numbers, dates and JSON as text',
    [
      ['n', '9007199254740993'],
      ['f', '1.0'],
      ['d', '2026-01-01T00:00:00Z'],
      ['j', '{"a":[1]}'],
    ],
  ],
  ['bytes that are no text', [['bytes', ALL_BYTES]]],
  ['a long value', [['long', 'x'.repeat(4_000)]]],
];

/** What arrives at first, after a retry, and in the dead-letter queue. */
async function journey(t: Trial, outgoing: Parameters<Trial['publish']>[1][number]): Promise<readonly Message[]> {
  const { queue, worker } = await t.begin([{ id: 'id-1', ...outgoing }]);
  const first = await worker.one();
  await worker.retry(first);
  const second = await worker.one();
  await worker.deadLetter(second, evidence(second));
  return [first.message, second.message, (await t.letter(queue)).message];
}

const STATIONS = ['at first', 'after a retry', 'as a letter'];

export const FIDELITY_CASES: readonly Case[] = [
  ...BODIES.map(
    ([what, body]): Case => ({
      name: `keeps a body of ${what}`,
      async run(t) {
        for (const [i, { body: arrived }] of (await journey(t, { body })).entries()) {
          assert.ok(arrived !== null || (body.length === 0 && !t.capabilities.nullBody), `${STATIONS[i]}: not null`);
          assert.ok(Buffer.from(arrived ?? []).equals(body), STATIONS[i]);
        }
      },
    }),
  ),
  {
    name: 'keeps null apart from empty',
    needs: [NULL_BODY],
    async run(t) {
      for (const [i, { body }] of (await journey(t, { body: null })).entries()) assert.equal(body, null, STATIONS[i]);
    },
  },
  ...HEADERS.map(
    ([what, headers]): Case => ({
      name: `keeps headers with ${what}`,
      async run(t) {
        for (const [i, arrived] of (await journey(t, { body: utf8('x'), headers })).entries()) {
          assert.deepEqual(foreignInHex(arrived.headers).sort(), foreignInHex(headers).sort(), STATIONS[i]);
        }
      },
    }),
  ),
  {
    name: 'keeps headers with their order',
    needs: [HEADER_ORDER],
    async run(t) {
      const headers: HeaderList = [
        ['z', '1'],
        ['10', '2'],
        ['a', '3'],
        ['9', '4'],
        ['a', '5'],
        ['B', '6'],
      ];
      for (const [i, arrived] of (await journey(t, { body: utf8('x'), headers })).entries()) {
        assert.deepEqual(foreignInHex(arrived.headers), foreignInHex(headers), STATIONS[i]);
      }
    },
  },
  {
    name: 'keeps half a surrogate pair, or says that it cannot',
    async run(t) {
      const queue = await t.queue();
      const headers: HeaderList = [['half', 'a\ud800b']];
      const [result] = await t.tryPublish(queue, [message('odd', { headers })]);
      if (result !== 'done') return;
      const worker = await t.worker(queue);
      assert.deepEqual(foreign((await worker.one()).message.headers), headers, 'stored, so it must not be changed');
    },
  },
  {
    name: 'keeps the envelope of the driver',
    needs: [NATIVE],
    async run(t) {
      const native = t.harness.native!;
      for (const [i, arrived] of (await journey(t, { body: utf8('x'), native })).entries()) {
        assert.deepEqual(arrived.native, native, STATIONS[i]);
      }
    },
  },
  ...(['0', '7', '999999999999999'] as const).map(
    (forged): Case => ({
      name: `clamps a forged attempt of ${forged}`,
      async run(t) {
        const { attempt } = await arriving(t, [['lazaret-attempt', forged]]);
        assert.ok(attempt >= 1 && attempt <= 4, `attempt ${attempt}`);
      },
    }),
  ),
  ...(['-1', 'two', '1e3', '0x2', ' 2', ''] as const).map(
    (forged): Case => ({
      name: `takes an unreadable attempt for the last one: '${forged}'`,
      needs: [COPIES_FAILURES],
      async run(t) {
        assert.equal((await arriving(t, [['lazaret-attempt', forged]])).attempt, 4);
      },
    }),
  ),
  {
    name: 'believes no time from the future, and none that cannot be read',
    async run(t) {
      for (const forged of ['999999999999999', 'yesterday', '-5']) {
        const { firstSeenAt } = await arriving(t, [['lazaret-first-seen', forged]]);
        const aheadMs = firstSeenAt - t.harness.system.now();
        assert.ok(aheadMs < 60_000, `${forged}: first seen ${aheadMs} ms from now`);
      }
    },
  },
  {
    name: 'believes no due time that lies years ahead',
    async run(t) {
      const { notBefore = 0 } = await arriving(t, [['lazaret-not-before', '999999999999999']]);
      const yearsAhead = (notBefore - t.harness.system.now()) / (365 * 24 * 3_600_000);
      assert.ok(yearsAhead < 2, `${yearsAhead} years from now`);
    },
  },
];

async function arriving(t: Trial, headers: HeaderList): Promise<Delivery> {
  const { worker } = await t.begin([message('forged', { headers })]);
  return worker.one();
}
