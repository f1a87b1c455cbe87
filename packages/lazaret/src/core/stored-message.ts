import { LazaretError } from './errors.ts';
import { type HeaderList, type HeaderValue, type Message, type Native, NO_HEADERS } from './message.ts';
import { shown } from './option-error.ts';

/**
 * Headers as JSON text, so that people can read them in the shell of any database: [[name, text], [name, [base64]]].
 * JSON escapes lone surrogates and NUL, so all text survives. NULL where there are none.
 */
export function storeHeaders(headers: HeaderList): string | null {
  if (headers.length === 0) return null;
  return JSON.stringify(headers.map(([name, value]) => [name, typeof value === 'string' ? value : [base64(value)]]));
}

function loadHeaders(stored: string | null): HeaderList {
  if (stored === null) return NO_HEADERS;
  const headers = JSON.parse(stored) as [string, string | [string]][];
  for (const header of headers) {
    if (typeof header[1] !== 'string') (header as [string, HeaderValue])[1] = bytes(header[1][0]);
  }
  return headers as unknown as HeaderList;
}

/** Another broker's envelope, kept for the way back there. */
export function storeNative(native: Native | undefined): string | null {
  return native === undefined ? null : JSON.stringify([native.driver, native.version, base64(native.bytes)]);
}

function loadNative(stored: string): Native {
  const [driver, version, encoded] = JSON.parse(stored) as [string, number, string];
  return { driver, version, bytes: bytes(encoded) };
}

/** A message from what a store keeps of it. Most have neither key nor native, and these share one shape. */
export function messageOf(
  id: string,
  key: string | null,
  headers: string | null,
  native: string | null,
  body: Uint8Array | null,
): Message {
  const message = { id, body: body === null ? null : plainBytes(body), headers: loadHeaders(headers) };
  if (key === null && native === null) return message;
  return {
    ...message,
    ...(key === null ? {} : { key }),
    ...(native === null ? {} : { native: loadNative(native) }),
  };
}

/** Throws LZ1119 for what cannot be kept, or has more header bytes than `headerBudgetBytes`. `message` came from a caller, who may not use types. */
export function checkMessage(
  message: { readonly body: unknown; readonly headers?: unknown },
  headerBudgetBytes: number,
): void {
  const { body, headers } = message;
  if (body !== null && !(body instanceof Uint8Array)) throw unfit('body', body, 'a Uint8Array or null');
  const texts = message as Record<string, unknown>;
  for (const name of ['id', 'key', 'dedupeId']) {
    const text = texts[name];
    if (text !== undefined && typeof text !== 'string') throw unfit(name, text, 'text');
  }
  if (headers !== undefined) checkHeaders(headers, headerBudgetBytes);
}

function checkHeaders(headers: unknown, headerBudgetBytes: number): void {
  if (!Array.isArray(headers)) throw unfit('headers', headers, 'a list of [name, value]');
  let bytes = 0;
  for (const header of headers) {
    const [name, value] = Array.isArray(header) ? header : [];
    if (typeof name !== 'string') throw unfit('a header name', name, 'text');
    if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
      throw unfit(`header ${shown(name)}`, value, 'text or bytes');
    }
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes <= headerBudgetBytes) return;
  throw new LazaretError('LZ1119', `The message's headers are ${bytes} bytes long.`, {
    hint: `They have room for ${headerBudgetBytes}; what is large belongs into the body.`,
  });
}

function unfit(what: string, value: unknown, wanted: string): LazaretError {
  return new LazaretError('LZ1119', `The message's ${what} is ${shown(value)}.`, { hint: `It has to be ${wanted}.` });
}

/** Some clients read blobs as Buffers, whose `slice` and `toString` are not those of other arrays. */
function plainBytes(blob: Uint8Array): Uint8Array {
  return blob.constructor === Uint8Array ? blob : new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}

function base64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}

function bytes(encoded: string): Uint8Array {
  return new Uint8Array(Buffer.from(encoded, 'base64'));
}
