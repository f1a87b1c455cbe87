import { LazaretError } from '../../core/errors.ts';
import { type Evidence, evidenceHeader, plainEvidenceHeaders } from '../../core/evidence.ts';
import { EVIDENCE_HEADER, HEADER } from '../../core/headers.ts';
import { type HeaderList, type HeaderValue, NO_HEADERS, withHeader, withoutHeaders } from '../../core/message.ts';
import type { Delivery, OutgoingMessage } from '../../ports/broker.ts';
import { ownHeaders } from './arrived.ts';
import { tableOf, unwritable, valuesOf } from './headers.ts';
import { isActing, isCount, KEPT_PROPERTY, keep } from './kept.ts';
import { type Envelope, openNative } from './native.ts';
import { type Properties, shortText, textOf, timestamp, writeProperties } from './wire/properties.ts';
import { type Field, readTable, sized } from './wire/table.ts';

/** Headers of a message with all of its properties must fit one frame, and its copies have more of them. */
export const HEADER_BUDGET_BYTES = 100_000;

const EVIDENCE_BYTES = 4096;
const PERSISTENT: Buffer = Buffer.of(2);
const NOTHING: Envelope = { properties: {}, fields: [] };
const PLAIN_EVIDENCE: readonly string[] = Object.values(EVIDENCE_HEADER);

/** Where a delivery came from; what was published to an exchange is handed on with its name. */
export interface Origin {
  readonly exchange: string;
  readonly routingKey: string;
}

/** What a copy says about the past of its message. */
export interface Past {
  readonly id: string;
  readonly attempt: number;
  readonly firstSeenAt: number;
  readonly notBefore: number | undefined;
}

// --- three ways to write a message ------------------------------------------------------------------------------------

/** The properties of a message that somebody publishes. Throws LZ1119 for what AMQP cannot carry. */
export function publishedProperties(message: OutgoingMessage, now: number): Buffer {
  const { id, key, headers = NO_HEADERS, native } = message;
  const envelope = native === undefined ? undefined : openNative(native);
  if (native?.driver === 'rabbitmq' && envelope === undefined) throw unsendable('its envelope is damaged');
  const { properties, fields } = envelope ?? NOTHING;
  const kept = message.headers === undefined ? { fields, rest: NO_HEADERS } : reconciled(fields, headers);
  const messageId = envelope === undefined && id !== undefined ? shortText(id) : properties.messageId;
  let own = kept.rest;
  if (id !== undefined && textOf(messageId) !== id) own = withHeader(own, HEADER.id, id);
  if (key !== undefined) own = withHeader(own, HEADER.key, key);
  const problem = unwritable(own);
  if (problem !== undefined) throw unsendable(problem);
  const written = write(
    {
      ...properties,
      ...(messageId === undefined ? {} : { messageId }),
      ...(envelope === undefined ? { timestamp: timestamp(Math.floor(now / 1000)) } : {}),
    },
    own,
    kept.fields,
  );
  if (written.length > HEADER_BUDGET_BYTES) {
    throw unsendable(`its headers of ${written.length} bytes are more than ${HEADER_BUDGET_BYTES}`);
  }
  return written;
}

/** Of what a retry or a release puts in the place of a delivery. */
export function retryProperties(delivery: Delivery, origin: Origin, past: Past): Buffer {
  let own = withoutHeaders(ownHeaders(delivery.message.headers), REWRITTEN);
  own = [...own, [HEADER.id, past.id], [HEADER.attempt, String(past.attempt)], firstSeen(past.firstSeenAt)];
  if (past.notBefore !== undefined) own = [...own, [HEADER.notBefore, String(Math.ceil(past.notBefore))]];
  const { properties, fields } = envelopeOf(delivery);
  return write(properties, withOrigin(own, origin), fields);
}

/** Of a dead letter: a message at its first attempt, with its evidence. What does not fit is left out of that, not of the message. */
export function letterProperties(delivery: Delivery, origin: Origin, evidence: Evidence, id: string): Buffer {
  let own = withoutHeaders(ownHeaders(delivery.message.headers), [...REWRITTEN, HEADER.evidence]);
  own = withOrigin([...own, [HEADER.id, id], firstSeen(delivery.firstSeenAt)], origin);
  const { properties, fields } = envelopeOf(delivery);
  const kept = fields.map((field) => (PLAIN_EVIDENCE.includes(field.name) ? keep(field) : field));
  const plain = plainEvidenceHeaders(evidence);
  const bare = write(properties, own, kept);
  const room = HEADER_BUDGET_BYTES + EVIDENCE_BYTES - bare.length - 1_024;
  const { text } = evidenceHeader(evidence, Math.min(EVIDENCE_BYTES, room));
  if (text === undefined) return write(properties, own, fields);
  return write(properties, [...own, ...plain, [HEADER.evidence, text]], kept);
}

const REWRITTEN: readonly string[] = [HEADER.id, HEADER.attempt, HEADER.firstSeen, HEADER.notBefore];

function firstSeen(at: number): readonly [string, HeaderValue] {
  return [HEADER.firstSeen, String(at)];
}

/** The first copy says it, later ones carry it on: what comes back from a tier comes by the queue's own name. */
function withOrigin(headers: HeaderList, { exchange, routingKey }: Origin): HeaderList {
  if (exchange === '' || headers.some(([name]) => name === HEADER.exchange)) return headers;
  return [...headers, [HEADER.exchange, exchange], [HEADER.routingKey, routingKey]];
}

// --- the parts --------------------------------------------------------------------------------------------------------

/** What a delivery brought, in its own types; from its list of headers where it has no envelope of ours. */
function envelopeOf({ message: { native, headers } }: Delivery): Envelope {
  const envelope = native === undefined ? undefined : openNative(native);
  if (envelope !== undefined) return envelope;
  const foreign = headers.filter(([name]) => !name.startsWith('lazaret-'));
  return { properties: {}, fields: readTable(Buffer.concat(tableOf(foreign))).fields };
}

/** The headers say which, the envelope says how: a field that they still name as it is goes as it came, the rest of them as text. */
function reconciled(fields: readonly Field[], headers: HeaderList): { fields: readonly Field[]; rest: HeaderList } {
  const rest = [...headers];
  const kept = fields.filter((field) => {
    const at = valuesOf(field).map((value) => rest.findIndex((header) => isSame(header, field.name, value)));
    if (at.length === 0 || at.includes(-1) || new Set(at).size !== at.length) return false;
    for (const index of at.sort((a, b) => b - a)) rest.splice(index, 1);
    return true;
  });
  return { fields: kept, rest };
}

function isSame([name, value]: HeaderList[number], wanted: string, other: HeaderValue): boolean {
  if (name !== wanted) return false;
  if (typeof value === 'string' || typeof other === 'string') return value === other;
  return Buffer.from(value).equals(other);
}

/** Ours in front, everything else as it came; what would make the broker act is put away. */
function write(properties: Properties, own: HeaderList, fields: readonly Field[]): Buffer {
  const { headers: _, expiration, userId, ...rest } = properties;
  const texts = [...own, ...keptText(KEPT_PROPERTY.expiration, expiration), ...keptText(KEPT_PROPERTY.userId, userId)];
  const entries = [...tableOf(texts)];
  for (const field of fields) {
    if (isCount(field.name)) continue;
    entries.push((isActing(field.name) ? keep(field) : field).bytes);
  }
  return writeProperties({
    ...rest,
    ...(entries.length === 0 ? {} : { headers: sized(Buffer.concat(entries)) }),
    deliveryMode: PERSISTENT,
  });
}

function keptText(name: string, property: Buffer | undefined): HeaderList {
  const text = textOf(property);
  return text === undefined ? NO_HEADERS : [[name, text]];
}

function unsendable(what: string): LazaretError {
  return new LazaretError('LZ1119', `The message cannot be sent: ${what}.`, {
    hint: 'Put what is large or no text into the body.',
  });
}
