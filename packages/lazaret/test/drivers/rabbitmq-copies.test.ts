import { describe, expect, it } from 'vitest';
import { type Evidence, readEvidence } from '../../src/core/evidence.ts';
import { type HeaderList, headerText, type Message } from '../../src/core/message.ts';
import { arrived } from '../../src/drivers/rabbitmq/arrived.ts';
import { headersOf } from '../../src/drivers/rabbitmq/headers.ts';
import {
  letterProperties,
  type Past,
  publishedProperties,
  retryProperties,
} from '../../src/drivers/rabbitmq/outgoing.ts';
import { readProperties, textOf } from '../../src/drivers/rabbitmq/wire/properties.ts';
import { readTable } from '../../src/drivers/rabbitmq/wire/table.ts';
import type { Delivery } from '../../src/ports/broker.ts';
import { array, death, field, int64, KINDS, properties, short, text } from './rabbitmq/tables.ts';

const NOW = 1_800_000_000_000;
const BODY = Buffer.from('body');
const NOWHERE = { exchange: '', routingKey: 'orders' };
const PAST: Past = { id: 'evt-1', attempt: 2, firstSeenAt: 1_700_000_000_123, notBefore: undefined };

const messageIn = (raw: Buffer, queue = 'orders'): Message => arrived(queue, raw, BODY).message;
const deliveryOf = (message: Message): Delivery => ({
  message,
  source: { queue: 'orders' },
  receipt: undefined,
  attempt: 1,
  firstSeenAt: PAST.firstSeenAt,
});
const retried = (raw: Buffer, past = PAST, origin = NOWHERE) =>
  retryProperties(deliveryOf(messageIn(raw)), origin, past);
const namesIn = (raw: Buffer) => readTable(readProperties(raw)!.headers!.subarray(4)).fields.map(({ name }) => name);
const own = (headers: HeaderList) => headers.filter(([name]) => name.startsWith('lazaret-'));

describe('a copy of ours', () => {
  it.each(KINDS)('keeps %s byte for byte', (_, entry) => {
    const raw = properties([entry], { deliveryMode: Buffer.of(2), correlationId: short('c-1') });
    const again = messageIn(retried(raw));
    expect(Buffer.from(again.native!.bytes).equals(raw)).toBe(true);
    expect(again.headers.filter(([name]) => !name.startsWith('lazaret-'))).toEqual(messageIn(raw).headers);
  });

  it('says what is to be known of its past, and forgets what it said before', () => {
    const first = messageIn(retried(properties([]), { ...PAST, notBefore: NOW }));
    expect(own(first.headers)).toEqual([
      ['lazaret-id', 'evt-1'],
      ['lazaret-attempt', '2'],
      ['lazaret-first-seen', '1700000000123'],
      ['lazaret-not-before', String(NOW)],
    ]);
    const second = messageIn(retryProperties(deliveryOf(first), NOWHERE, { ...PAST, attempt: 3 }));
    expect(own(second.headers).slice(1)).toEqual([
      ['lazaret-attempt', '3'],
      ['lazaret-first-seen', '1700000000123'],
    ]);
    expect(second.id).toBe('evt-1');
  });

  it('carries on what is ours and not of the past', () => {
    const raw = properties([field('lazaret-key', 'S', text('k')), field('lazaret-replay', 'S', text('token'))]);
    const { key, headers } = messageIn(retried(raw));
    expect([key, headerText(headers, 'lazaret-replay')]).toEqual(['k', 'token']);
  });

  it('makes the broker act in no way, and loses nothing of what would', () => {
    const raw = properties(
      [
        field('BCC', 'A', array(['S', text('b')])),
        field('CC', 'A', array(['S', text('elsewhere')])),
        field('h', 'S', text('x')),
        field('x-death', 'A', array(death('other-queue', 'rejected'))),
        field('x-first-death-queue', 'S', text('other-queue')),
      ],
      { deliveryMode: Buffer.of(2), expiration: short('100'), userId: short('guest') },
    );
    const copy = retried(raw);
    const { expiration, userId } = readProperties(copy)!;
    expect([expiration, userId]).toEqual([undefined, undefined]);
    expect(namesIn(copy).filter((name) => /^(CC|BCC|x-)/.test(name))).toEqual([]);
    expect(Buffer.from(messageIn(copy).native!.bytes).equals(raw)).toBe(true);
    expect(headerText(messageIn(copy).headers, 'x-first-death-queue')).toBe('other-queue');
  });

  it('is stored to last, though its original was not', () => {
    expect(readProperties(retried(properties([], { deliveryMode: Buffer.of(1) })))!.deliveryMode).toEqual(Buffer.of(2));
  });

  it('carries no count of the broker', () => {
    const raw = properties([field('x-acquired-count', 'l', int64(3n)), field('x-delivery-count', 'l', int64(3n))]);
    expect(namesIn(retried(raw)).some((name) => name.startsWith('x-'))).toBe(false);
    expect(messageIn(raw).headers).toEqual([]);
  });

  it('shows no death in a tier of its queue, and every other', () => {
    const inTier = properties([
      field('x-death', 'A', array(death('orders.retry.10000'))),
      field('x-first-death-reason', 'S', text('expired')),
    ]);
    expect(messageIn(inTier).headers).toEqual([]);
    expect(messageIn(inTier).native!.bytes.length).toBe(2);
    const elsewhere = properties([
      field('x-death', 'A', array(death('orders.retry.10000'), death('payments', 'maxlen'))),
    ]);
    expect(messageIn(elsewhere).headers.map(([name]) => name)).toEqual(['x-death']);
  });

  it('remembers where its message was first published to', () => {
    const copy = messageIn(retried(properties([]), PAST, { exchange: 'shop', routingKey: 'order.paid' }));
    const again = messageIn(retryProperties(deliveryOf(copy), { exchange: 'other', routingKey: 'x' }, PAST));
    for (const { headers } of [copy, again]) {
      expect(headerText(headers, 'lazaret-exchange')).toBe('shop');
      expect(headerText(headers, 'lazaret-routing-key')).toBe('order.paid');
    }
  });

  it('is made of the headers where a message has no envelope', () => {
    const { native: _, ...message } = messageIn(
      properties([field('h', 'S', text('x')), field('lazaret-key', 'S', text('k'))]),
    );
    const copy = messageIn(retryProperties(deliveryOf(message), NOWHERE, PAST));
    expect([headerText(copy.headers, 'h'), copy.key]).toEqual(['x', 'k']);
  });

  it.each([
    ['no properties at all', Buffer.alloc(0)],
    ['properties that are cut short', Buffer.of(0x80, 0, 9, 65)],
    ['flags that nobody uses', Buffer.of(0, 3)],
    ['a table that is cut short', Buffer.from([0x20, 0, 0, 0, 0, 3, 1, 65, 83])],
  ])('is made of %s too', (_, raw) => {
    expect(messageIn(retried(raw)).id).toBe('evt-1');
  });
});

describe('a dead letter', () => {
  const evidence: Evidence = {
    reason: 'poison',
    queue: 'orders',
    attempts: 1,
    strikes: 0,
    firstSeenAt: 1_700_000_000_000,
    deadAt: 1_700_000_000_001,
    fingerprint: 'v1:0',
    why: 'customer is empty',
  };
  const letter = (message: Message) => letterProperties(deliveryOf(message), NOWHERE, evidence, 'evt-1');

  it('has its evidence for us and for others, and is at its first attempt', () => {
    const { headers } = messageIn(letter(messageIn(retried(properties([])))), 'orders.dlq');
    expect(readEvidence(headerText(headers, 'lazaret-evidence')!)).toEqual(evidence);
    expect(['x-original-queue', 'x-error', 'x-attempts'].map((name) => headerText(headers, name))).toEqual([
      'orders',
      'customer is empty',
      '1',
    ]);
    expect(headerText(headers, 'lazaret-attempt')).toBeUndefined();
  });

  it("takes the place of what a producer said under the same name, whose own isn't lost", () => {
    const raw = properties([field('x-error', 'I', Buffer.of(0, 0, 0, 7))], { deliveryMode: Buffer.of(2) });
    const { headers, native } = messageIn(letter(messageIn(raw)), 'orders.dlq');
    expect(headers.filter(([name]) => name === 'x-error')).toEqual([['x-error', 'customer is empty']]);
    expect(Buffer.from(native!.bytes).equals(raw)).toBe(true);
  });

  it('has one evidence, however often it died', () => {
    const again = letter(messageIn(letter(messageIn(properties([])))));
    expect(namesIn(again).filter((name) => name === 'lazaret-evidence')).toHaveLength(1);
  });

  it('leaves out what does not fit, and nothing of the message', () => {
    const raw = properties([field('h', 'S', text('x'.repeat(104_000)))], { deliveryMode: Buffer.of(2) });
    const written = letter(messageIn(raw));
    expect(written.length).toBeLessThan(131_072 - 20);
    expect(Buffer.from(messageIn(written).native!.bytes).equals(raw)).toBe(true);
  });
});

describe('what is published', () => {
  it('has id, time and durability as AMQP has them, and its key as a header', () => {
    const written = publishedProperties({ id: 'evt-1', key: 'k', body: BODY, headers: [['a', 'b']] }, NOW);
    const { messageId, timestamp, deliveryMode } = readProperties(written)!;
    expect([textOf(messageId), timestamp!.readBigUInt64BE(0), deliveryMode![0]]).toEqual(['evt-1', 1_800_000_000n, 2]);
    const { message, sentAt } = arrived('orders', written, BODY);
    expect([message.id, message.key, sentAt]).toEqual(['evt-1', 'k', NOW]);
    expect(message.headers.filter(([name]) => name === 'a')).toEqual([['a', 'b']]);
  });

  it('has a long id in a header', () => {
    const id = 'é'.repeat(200);
    expect(messageIn(publishedProperties({ id, body: BODY }, NOW)).id).toBe(id);
  });

  const native = (raw: Buffer) => ({ driver: 'rabbitmq', version: 1, bytes: raw });
  const typed = properties([field('a', 'l', int64(5n)), field('b', 'S', text('x'))], { messageId: short('m-1') });

  it('keeps an envelope, and the id that it is given beside it', () => {
    const message = messageIn(publishedProperties({ id: 'evt-1', body: BODY, native: native(typed) }, NOW));
    expect(message.id).toBe('evt-1');
    expect(textOf(readProperties(Buffer.from(message.native!.bytes))!.messageId)).toBe('m-1');
  });

  it('takes of an envelope what its headers still say, in the types of the envelope', () => {
    const headers: HeaderList = [
      ['a', '5'],
      ['b', 'edited'],
      ['c', 'new'],
    ];
    const written = publishedProperties({ body: BODY, headers, native: native(typed) }, NOW);
    const { fields } = readTable(readProperties(written)!.headers!.subarray(4));
    expect(new Map(fields.map(({ name, tag }) => [name, tag]))).toEqual(
      new Map([
        ['a', 'l'],
        ['b', 'S'],
        ['c', 'S'],
      ]),
    );
    expect(new Map(headersOf(fields))).toEqual(new Map(headers));
  });

  it('has the headers alone where an envelope is of another driver', () => {
    const written = publishedProperties(
      { body: BODY, headers: [['a', 'b']], native: { driver: 'sqs', version: 1, bytes: BODY } },
      NOW,
    );
    expect(messageIn(written).headers).toEqual([['a', 'b']]);
  });

  it.each([
    ['an envelope that is cut short', { body: BODY, native: native(Buffer.of(0x80, 0, 9)) }],
    ['an envelope with a broken table', { body: BODY, native: native(Buffer.from([0x20, 0, 0, 0, 0, 3, 1, 65, 83])) }],
    [
      'an envelope with a number that is none',
      { body: BODY, native: native(properties([field('n', 'f', Buffer.of(0x7f, 0xc0, 0, 0))])) },
    ],
    ['an envelope of another version', { body: BODY, native: { driver: 'rabbitmq', version: 9, bytes: typed } }],
    ['half a surrogate pair', { body: BODY, headers: [['a', '\ud800']] as HeaderList }],
    ['a key of half a surrogate pair', { body: BODY, key: '\ud800' }],
    ['headers beyond all measure', { body: BODY, headers: [['a', 'x'.repeat(101_000)]] as HeaderList }],
  ])('is refused before the server ends a connection over %s', (_, message) => {
    expect(() => publishedProperties(message, NOW)).toThrowError(expect.objectContaining({ code: 'LZ1119' }));
  });
});
