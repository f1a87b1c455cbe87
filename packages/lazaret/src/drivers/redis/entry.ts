import { HEADER, readAttempt } from '../../core/headers.ts';
import { type HeaderList, headerText, type Message, NO_HEADERS } from '../../core/message.ts';
import { messageOf, storeHeaders, storeNative } from '../../core/stored-message.ts';
import type { OutgoingMessage } from '../../ports/broker.ts';

/** What a client hands to the server. */
export type Field = string | Uint8Array;

/** First of the fields that we write; the others then have short names. */
const MARK = 'lazaret';
/** Where a producer that knows nothing of us is likely to have put what it sends, best first. */
const BODY_FIELDS: readonly string[] = ['body', 'data', 'payload', 'message', 'value'];
/** Attempts are clamped to the consumer's maximum when they are handed out; this only keeps the number small. */
const HIGHEST_ATTEMPT = 100_000;
const NOTHING = Buffer.alloc(0);

/** The fields of an entry, name and value in turn. */
export function fieldsOf(message: OutgoingMessage | Message, id: string): Field[] {
  const { headers = NO_HEADERS, key, native, body } = message;
  const fields: Field[] = [MARK, '1', 'i', utf16(id)];
  const attempt = readAttempt(headers, HIGHEST_ATTEMPT);
  const stored = storeHeaders(headers);
  const envelope = storeNative(native);
  if (attempt !== 1) fields.push('a', String(attempt));
  if (key !== undefined) fields.push('k', utf16(key));
  if (stored !== null) fields.push('h', stored);
  if (envelope !== null) fields.push('n', envelope);
  if (body !== null) fields.push('b', bufferOf(body));
  return fields;
}

/**
 * A message from an entry. One that another producer wrote has its body in the field `body`, `data`, `payload`, `message` or `value`,
 * or in its only one; else its body is all of it as JSON. Its other fields are headers; its id is `lazaret-id`, else that of the entry.
 */
export function messageOfEntry(entryId: string, fields: readonly Buffer[]): Message {
  const isOurs = fields.length >= 4 && fields[0]!.toString('latin1') === MARK;
  return isOurs ? ownMessage(fields) : foreignMessage(entryId, fields);
}

function ownMessage(fields: readonly Buffer[]): Message {
  let id = '';
  let key: string | null = null;
  let headers: string | null = null;
  let native: string | null = null;
  let body: Buffer | null = null;
  for (let at = 2; at + 1 < fields.length; at += 2) {
    const value = fields[at + 1]!;
    switch (fields[at]!.toString('latin1')) {
      case 'i':
        id = fromUtf16(value);
        break;
      case 'k':
        key = fromUtf16(value);
        break;
      case 'h':
        headers = value.toString('utf8');
        break;
      case 'n':
        native = value.toString('utf8');
        break;
      case 'b':
        body = value;
        break;
    }
  }
  return messageOf(id, key, headers, native, body);
}

function foreignMessage(entryId: string, fields: readonly Buffer[]): Message {
  const pairs: (readonly [name: string, value: Buffer])[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([fields[at]!.toString('utf8'), fields[at + 1]!]);
  const bodyAt = pairs.length === 1 ? 0 : indexOfBody(pairs);
  const headers: HeaderList = pairs.filter((_, at) => at !== bodyAt).map(([name, value]) => [name, textOrBytes(value)]);
  const body = bodyAt === -1 ? asJson(pairs) : pairs[bodyAt]![1];
  const key = headerText(headers, HEADER.key);
  return {
    id: headerText(headers, HEADER.id) ?? entryId,
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
    headers,
    ...(key === undefined ? {} : { key }),
  };
}

function indexOfBody(pairs: readonly (readonly [string, Buffer])[]): number {
  for (const wanted of BODY_FIELDS) {
    const at = pairs.findIndex(([name]) => name.toLowerCase() === wanted);
    if (at !== -1) return at;
  }
  return -1;
}

/** n.b. entries, so that a field `__proto__` is one like others. */
function asJson(pairs: readonly (readonly [string, Buffer])[]): Buffer {
  if (pairs.length === 0) return NOTHING;
  const members = pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value.toString('utf8'))}`);
  return Buffer.from(`{${members.join(',')}}`);
}

/** Text where it is well-formed UTF-8. */
function textOrBytes(value: Buffer): string | Uint8Array {
  const text = value.toString('utf8');
  return Buffer.from(text, 'utf8').equals(value) ? text : new Uint8Array(value);
}

/** n.b. the client takes no other bytes. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** n.b. text with a lone surrogate does not survive UTF-8; it goes in as its UTF-16 units behind a byte that no UTF-8 begins with. */
function utf16(text: string): Field {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
    ? text
    : Buffer.concat([Buffer.of(0xff), Buffer.from(text, 'utf16le')]);
}

function fromUtf16(bytes: Buffer): string {
  return bytes[0] === 0xff ? bytes.subarray(1).toString('utf16le') : bytes.toString('utf8');
}
