/** One entry of an AMQP field table, as it stands on the wire: nothing of it is decoded that nobody asked for. */
export interface Field {
  /** Read as UTF-8, for comparing; `bytes` has it exactly. */
  readonly name: string;
  readonly tag: FieldTag;
  /** The value without its tag, lengths included. */
  readonly value: Buffer;
  /** The whole entry: name, tag and value. */
  readonly bytes: Buffer;
}

/** 't' boolean, 'b'/'B' … 'l' integers, 'f'/'d' floats, 'D' decimal, 'T' seconds, 'S' text, 'x' bytes, 'A' array, 'F' table, 'V' nothing. */
export type FieldTag =
  | 't'
  | 'b'
  | 'B'
  | 's'
  | 'u'
  | 'I'
  | 'i'
  | 'l'
  | 'f'
  | 'd'
  | 'D'
  | 'T'
  | 'S'
  | 'x'
  | 'A'
  | 'F'
  | 'V';

/** What could be read, and whether that was all of it. A broker closes the whole connection of one who sends it a broken table. */
export interface Table {
  readonly fields: readonly Field[];
  readonly intact: boolean;
}

const FIXED_SIZE: Readonly<Record<string, number>> = {
  t: 1,
  b: 1,
  B: 1,
  s: 2,
  u: 2,
  I: 4,
  i: 4,
  f: 4,
  l: 8,
  d: 8,
  T: 8,
  D: 5,
  V: 0,
};
const SIZED = 'SxAF';
const DEEPEST = 32;

/** The entries of a table whose length was cut off already. Never throws. */
export function readTable(bytes: Buffer): Table {
  const fields: Field[] = [];
  let at = 0;
  while (at < bytes.length) {
    const field = fieldAt(bytes, at);
    if (field === undefined) return { fields, intact: false };
    fields.push(field);
    at += field.bytes.length;
  }
  return { fields, intact: true };
}

/** Whether a server can read it to the bottom. */
export function isSound(bytes: Buffer, depth: number = 0): boolean {
  const { fields, intact } = readTable(bytes);
  return intact && depth < DEEPEST && fields.every((field) => isSoundValue(field.tag, field.value, depth));
}

function isSoundValue(tag: FieldTag, value: Buffer, depth: number): boolean {
  switch (tag) {
    case 'F':
      return isSound(value.subarray(4), depth + 1);
    case 'A': {
      const { items, intact } = readArray(value.subarray(4));
      return intact && depth < DEEPEST && items.every((item) => isSoundValue(item.tag, item.value, depth + 1));
    }
    case 'd':
      return !Number.isNaN(value.readDoubleBE(0));
    case 'f':
      return !Number.isNaN(value.readFloatBE(0));
    default:
      return true;
  }
}

export interface Item {
  readonly tag: FieldTag;
  readonly value: Buffer;
}

/** The elements of an array whose length was cut off already. Never throws. */
export function readArray(bytes: Buffer): { readonly items: readonly Item[]; readonly intact: boolean } {
  const items: Item[] = [];
  let at = 0;
  while (at < bytes.length) {
    const item = itemAt(bytes, at);
    if (item === undefined) return { items, intact: false };
    items.push(item);
    at += 1 + item.value.length;
  }
  return { items, intact: true };
}

function fieldAt(bytes: Buffer, at: number): Field | undefined {
  const nameEnd = at + 1 + bytes[at]!;
  const item = itemAt(bytes, nameEnd);
  if (item === undefined) return undefined;
  const end = nameEnd + 1 + item.value.length;
  return {
    name: bytes.toString('utf8', at + 1, nameEnd),
    tag: item.tag,
    value: item.value,
    bytes: bytes.subarray(at, end),
  };
}

function itemAt(bytes: Buffer, at: number): Item | undefined {
  if (at >= bytes.length) return undefined;
  const tag = String.fromCharCode(bytes[at]!);
  const size = sizeAt(bytes, tag, at + 1);
  if (size === undefined || at + 1 + size > bytes.length) return undefined;
  return { tag: tag as FieldTag, value: bytes.subarray(at + 1, at + 1 + size) };
}

function sizeAt(bytes: Buffer, tag: string, at: number): number | undefined {
  if (SIZED.includes(tag)) return at + 4 <= bytes.length ? 4 + bytes.readUInt32BE(at) : undefined;
  return Object.hasOwn(FIXED_SIZE, tag) ? FIXED_SIZE[tag] : undefined;
}

// --- writing

/** Names are at most 255 bytes long; whoever calls has seen to that. */
export function writeField(name: string, tag: FieldTag, value: Uint8Array): Buffer {
  const nameBytes = Buffer.from(name);
  return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, Buffer.of(tag.charCodeAt(0)), value]);
}

/** `field` under another name, its value untouched. */
export function renamed(field: Field, name: string): Field {
  const bytes = writeField(name, field.tag, field.value);
  return { name, tag: field.tag, value: bytes.subarray(bytes.length - field.value.length), bytes };
}

/** Bytes with their length in front of them, as texts, byte arrays, arrays and tables have it. */
export function sized(content: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(4 + content.length);
  out.writeUInt32BE(content.length, 0);
  out.set(content, 4);
  return out;
}
