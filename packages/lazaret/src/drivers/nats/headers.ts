import type { HeaderList, HeaderValue } from '../../core/message.ts';
import type { Encodable } from './client.ts';

/**
 * Headers of NATS are lines of text: a name, a colon, a value without line breaks whose outer spaces are lost. What cannot travel so,
 * and what would make the server act, is carried in this one, which is taken apart at arrival: the name and the value in base64url,
 * with 't' for text, 'b' for bytes and 'u' for text that no UTF-8 can say.
 */
const ENCODED = 'lazaret-encoded';
/** The server's own name for what it dedupes by; other clients use it as the message's id. */
export const MESSAGE_ID = 'Nats-Msg-Id';

const PLAIN_NAME = /^[!-9;-~]+$/;
const PLAIN_VALUE = /^(?:[^\s\0](?:[^\r\n\0]*[^\s\0])?)?$/;
const ACTING = /^nats-/i;
const HALF_PAIR = /[\ud800-\udfff]/;
const ENTRY = /^([\w-]*)\.([tbu])\.([\w-]*)$/;
const encoder = new TextEncoder();

/** The block of headers as it stands on the wire; `dedupeId` is what the server acts on. */
export function headerBlock(headers: HeaderList, dedupeId?: string): Uint8Array | undefined {
  if (headers.length === 0 && dedupeId === undefined) return undefined;
  let block = 'NATS/1.0\r\n';
  if (dedupeId !== undefined) block += `${MESSAGE_ID}: ${dedupeId}\r\n`;
  for (const [name, value] of headers) {
    block += isPlain(name, value) ? `${name}: ${value}\r\n` : `${ENCODED}: ${encodedEntry(name, value)}\r\n`;
  }
  return encoder.encode(`${block}\r\n`);
}

/** n.b. what the client asks of headers that it sends is their bytes, no more; its own list checks and copies each of them. */
export function asHeaders(block: Uint8Array): Encodable {
  return { encode: () => block };
}

function isPlain(name: string, value: HeaderValue): value is string {
  if (typeof value !== 'string' || !PLAIN_NAME.test(name) || !PLAIN_VALUE.test(value)) return false;
  return !ACTING.test(name) && name !== ENCODED && isWhole(value);
}

function encodedEntry(name: string, value: HeaderValue): string {
  const named = base64(isWhole(name) ? Buffer.from(name) : Buffer.from(name.replace(HALF_PAIR, '\ufffd')));
  if (typeof value !== 'string') return `${named}.b.${base64(value)}`;
  return isWhole(value)
    ? `${named}.t.${base64(Buffer.from(value))}`
    : `${named}.u.${base64(Buffer.from(value, 'utf16le'))}`;
}

/** Half a surrogate pair would be written as a replacement character. */
export function isWhole(text: string): boolean {
  return !HALF_PAIR.test(text) || Buffer.from(text).toString() === text;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/** What somebody sent, ours among them. The id that the server dedupes by is no header of the message. */
export function headersOf(found: Iterable<[string, string[]]>): HeaderList {
  const headers: (readonly [string, HeaderValue])[] = [];
  for (const [name, values] of found) {
    if (name === MESSAGE_ID) continue;
    for (const value of values) headers.push(name === ENCODED ? (decodedEntry(value) ?? [name, value]) : [name, value]);
  }
  return headers;
}

function decodedEntry(text: string): readonly [string, HeaderValue] | undefined {
  const [, name, kind, value] = ENTRY.exec(text) ?? [];
  if (name === undefined || value === undefined) return undefined;
  const bytes = Buffer.from(value, 'base64url');
  const named = Buffer.from(name, 'base64url').toString();
  return [named, kind === 'b' ? new Uint8Array(bytes) : bytes.toString(kind === 't' ? 'utf8' : 'utf16le')];
}
