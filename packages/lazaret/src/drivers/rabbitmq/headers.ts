import type { HeaderList, HeaderValue } from '../../core/message.ts';
import { plainText } from './plain-text.ts';
import { type Field, type Item, readArray, sized, writeField } from './wire/table.ts';

/**
 * A table as a list of texts and bytes. A name that repeats cannot stand in a table (RabbitMQ 4 keeps one of them), so an array
 * of texts and bytes is read as its repetitions, and repetitions are written as one; every other type is read as text, as JSON
 * says it.
 */
export function headersOf(fields: readonly Field[]): HeaderList {
  const headers: (readonly [string, HeaderValue])[] = [];
  for (const field of fields) {
    for (const value of valuesOf(field)) headers.push([field.name, value]);
  }
  return headers;
}

/** What `field` is in a list: several values for repetitions, else one. */
export function valuesOf({ tag, value }: Item): readonly HeaderValue[] {
  switch (tag) {
    case 'S':
      return [textOrBytes(value.subarray(4))];
    case 'x':
      return [value.subarray(4)];
    case 'A': {
      const { items } = readArray(value.subarray(4));
      const isRepetition = items.length > 0 && items.every((item) => item.tag === 'S' || item.tag === 'x');
      return isRepetition ? items.flatMap(valuesOf) : [plainText(tag, value)];
    }
    default:
      return [plainText(tag, value)];
  }
}

function textOrBytes(bytes: Buffer): HeaderValue {
  const text = bytes.toString('utf8');
  // n.b. what is no UTF-8 is read with replacement characters, and those may also have been meant.
  return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? bytes : text;
}

/** The entries of a table for `headers`, in the order of their first appearance. */
export function tableOf(headers: HeaderList): readonly Buffer[] {
  const values = new Map<string, HeaderValue[]>();
  for (const [name, value] of headers) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  const entries: Buffer[] = [];
  for (const [name, all] of values) entries.push(all.length === 1 ? entry(name, all[0]!) : repetition(name, all));
  return entries;
}

function entry(name: string, value: HeaderValue): Buffer {
  return writeField(name, tagOf(value), sized(bytesOf(value)));
}

function repetition(name: string, values: readonly HeaderValue[]): Buffer {
  const items = values.flatMap((value) => [Buffer.from(tagOf(value)), sized(bytesOf(value))]);
  return writeField(name, 'A', sized(Buffer.concat(items)));
}

function tagOf(value: HeaderValue): 'S' | 'x' {
  return typeof value === 'string' ? 'S' : 'x';
}

function bytesOf(value: HeaderValue): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value;
}

/** Why `headers` cannot be written as a table; `undefined` where they can. */
export function unwritable(headers: HeaderList): string | undefined {
  for (const [name, value] of headers) {
    if (Buffer.byteLength(name) > 255) return `the name of a header is longer than 255 bytes`;
    if (!isWhole(name)) return 'the name of a header is no text that UTF-8 can say';
    if (typeof value === 'string' && !isWhole(value)) return `the header '${name}' is no text that UTF-8 can say`;
  }
  return undefined;
}

const HALF_PAIR = /[\ud800-\udfff]/;

/** Half a surrogate pair would be written as a question mark. */
function isWhole(text: string): boolean {
  return !HALF_PAIR.test(text) || Buffer.from(text).toString() === text;
}
