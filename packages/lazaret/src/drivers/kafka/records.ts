import { isUtf8 } from 'node:buffer';
import { LazaretError } from '../../core/errors.ts';
import type { Evidence } from '../../core/evidence.ts';
import { EVIDENCE_HEADER, HEADER, readAttempt, readTime } from '../../core/headers.ts';
import { withEvidence } from '../../core/letter.ts';
import { type HeaderList, type HeaderValue, NO_HEADERS, withHeader, withoutHeaders } from '../../core/message.ts';
import { shown } from '../../core/option-error.ts';
import { checkMessage } from '../../core/stored-message.ts';
import type { Delivery, OutgoingMessage } from '../../ports/broker.ts';
import { HEADER_BUDGET_BYTES } from './capabilities.ts';
import type { KafkaRecord, OutgoingRecord } from './client.ts';
import { LONGEST_DELAY_MS } from './tiers.ts';

/** When a record of a retry tier is due (epoch milliseconds); believed nowhere else. */
const DUE_AT = 'lazaret-due-at';

/** No time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

// --- what arrives ---------------------------------------------------------------------------------------------------

/** Text where the bytes are UTF-8; else they are bytes of their own, so that no handler changes what is copied later. */
function headersOf({ headers }: KafkaRecord): HeaderList {
  if (headers.length === 0) return NO_HEADERS;
  const list: [string, HeaderValue][] = [];
  for (const [name, value] of headers) {
    if (name !== DUE_AT) list.push([name, isUtf8(value) ? value.toString() : Uint8Array.from(value)]);
  }
  return list;
}

/** What a record of a tier waits for. */
export function dueAtOf(record: KafkaRecord, now: number): number | undefined {
  return readTime(record.headers, DUE_AT, 0, now + LONGEST_DELAY_MS);
}

/** The attempt that the record itself carries. */
export function attemptOf({ headers }: KafkaRecord, maxAttempts: number): number {
  return headers.length === 0 ? 1 : readAttempt(headers, maxAttempts);
}

/** What all deliveries of one subscription have in common. */
export interface HandOut {
  readonly queue: string;
  readonly maxAttempts: number;
}

/** What is known of a record beside itself. */
export interface Known {
  readonly charged: number;
  readonly crashes: number;
  readonly notBefore: number | undefined;
  readonly isBlocked: boolean;
}

export function deliveryOf(
  record: KafkaRecord,
  receipt: unknown,
  { queue, maxAttempts }: HandOut,
  { charged, crashes, notBefore, isBlocked }: Known,
  now: number,
): Delivery {
  const headers = headersOf(record);
  const id = textIn(headers, HEADER.id);
  const key = keyOf(record);
  const own = headers.length === 0 ? undefined : readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS);
  const before = notBefore ?? own;
  return {
    message: {
      ...(id === undefined ? {} : { id }),
      ...(key === undefined ? {} : { key }),
      body: record.value === null ? null : new Uint8Array(record.value),
      headers,
    },
    source: { queue, position: positionOf(record) },
    receipt,
    attempt: Math.min(attemptOf(record, maxAttempts) + charged, maxAttempts),
    strikes: crashes,
    firstSeenAt: firstSeenOf(record, now),
    ...(before === undefined ? {} : { notBefore: before }),
    ...(isBlocked ? { blocked: true as const } : {}),
  };
}

/** 'orders/3@1042' */
function positionOf({ topic, partition, offset }: KafkaRecord): string {
  return `${topic}/${partition}@${offset}`;
}

function firstSeenOf({ headers, timestamp }: KafkaRecord, now: number): number {
  const said = headers.length === 0 ? undefined : readTime(headers, HEADER.firstSeen, 0, now);
  return Math.floor(said ?? (timestamp > 0 ? Math.min(timestamp, now) : now));
}

/** As text; bytes that are no UTF-8 as one character each. */
function keyOf({ key }: KafkaRecord): string | undefined {
  if (key === null) return undefined;
  return isUtf8(key) ? key.toString() : key.toString('latin1');
}

function textIn(headers: HeaderList, wanted: string): string | undefined {
  for (const [name, value] of headers) {
    if (name === wanted) return typeof value === 'string' ? value : Buffer.from(value).toString();
  }
  return undefined;
}

// --- what is sent ---------------------------------------------------------------------------------------------------

/** Throws LZ1119 for what Kafka, or its client, would change or cut. */
export function published(topic: string, message: OutgoingMessage): OutgoingRecord {
  checkMessage(message, HEADER_BUDGET_BYTES);
  const { id, key, body, headers = NO_HEADERS } = message;
  for (const [name, value] of headers) checkHeader(name, value);
  for (const text of [id, key]) if (text !== undefined) checkText(text, text === id ? 'id' : 'key');
  return {
    topic,
    key: key === undefined ? null : Buffer.from(key),
    value: body,
    headers: id === undefined ? headers : withHeader(headers, HEADER.id, id),
  };
}

function checkHeader(name: string, value: HeaderValue): void {
  if (name === '' || name.includes('\0')) {
    throw unfit(
      `A header's name is ${shown(name)}.`,
      'Write a name, without the character NUL: it would be cut there.',
    );
  }
  checkText(name, 'name of a header');
  if (typeof value === 'string') checkText(value, `header ${shown(name)}`);
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

function checkText(text: string, what: string): void {
  if (LONE_SURROGATE.test(text)) {
    throw unfit(`The ${what} contains half a surrogate pair.`, 'Text travels as UTF-8; send it as bytes.');
  }
}

function unfit(what: string, hint: string): LazaretError {
  return new LazaretError('LZ1119', what, { hint });
}

/** What becomes of a delivery that waits elsewhere. */
export interface Wait {
  readonly topic: string;
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly notBefore: number | undefined;
}

/** The record as it came, but for what we say about it. Its timestamp is new: retention would delete a copy that looks old. */
export function waitingCopy(record: KafkaRecord, delivery: Delivery, wait: Wait): OutgoingRecord {
  let headers = withoutHeaders(record.headers, [HEADER.notBefore]);
  headers = withPast(headers, record, delivery);
  headers = withHeader(headers, HEADER.attempt, String(wait.attempt));
  headers = withHeader(headers, DUE_AT, String(Math.ceil(wait.dueAt)));
  if (wait.notBefore !== undefined) headers = withHeader(headers, HEADER.notBefore, String(Math.ceil(wait.notBefore)));
  return { topic: wait.topic, key: record.key, value: record.value, headers };
}

/** Room in a record beside body, key and headers. */
const OVERHEAD_BYTES = 1_024;

/** A message at its first attempt, with its evidence; as much of that as still fits into a record of `limitBytes`. */
export function letterCopy(
  record: KafkaRecord,
  delivery: Delivery,
  evidence: Evidence,
  topic: string,
  limitBytes: number,
): OutgoingRecord {
  let headers = withoutHeaders(record.headers, [HEADER.attempt, HEADER.notBefore, DUE_AT]);
  headers = withPast(headers, record, delivery);
  const room = limitBytes - OVERHEAD_BYTES - sizeOf(record);
  const told = withEvidence(headers, evidence, Math.max(0, room));
  const withTopic = withHeader(told, EVIDENCE_HEADER.originalTopic, delivery.source.queue);
  return { topic, key: record.key, value: record.value, headers: withTopic };
}

/** The place of a record names it for ever, so two copies of it after a crash carry one id. */
function withPast(headers: HeaderList, record: KafkaRecord, { message, firstSeenAt }: Delivery): HeaderList {
  const named = withHeader(headers, HEADER.id, message.id ?? positionOf(record));
  return withHeader(named, HEADER.firstSeen, String(firstSeenAt));
}

function sizeOf({ key, value, headers }: KafkaRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, header] of headers) bytes += Buffer.byteLength(name) + header.length + 10;
  return bytes;
}
