/**
 * The properties of one message as they stand on the wire: each present one is the bytes of its value, lengths included.
 * In the order of AMQP's flags, which is also the order of the bytes.
 */
export type Properties = { readonly [name in PropertyName]?: Buffer };

type PropertyName = (typeof NAMES)[number];

const NAMES = [
  'contentType',
  'contentEncoding',
  'headers',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'timestamp',
  'type',
  'userId',
  'appId',
  'clusterId',
] as const;

const HIGHEST_FLAG = 0x8000;
/** The two lowest bits mean that more flags follow, and nothing; no known server uses either. */
const UNKNOWN_FLAGS = 0b11;

/** `undefined` where the bytes are no properties. */
export function readProperties(bytes: Buffer): Properties | undefined {
  if (bytes.length < 2) return undefined;
  const flags = bytes.readUInt16BE(0);
  if ((flags & UNKNOWN_FLAGS) !== 0) return undefined;
  const properties: { [name in PropertyName]?: Buffer } = {};
  let at = 2;
  for (let i = 0, flag = HIGHEST_FLAG; i < NAMES.length; i++, flag >>= 1) {
    if ((flags & flag) === 0) continue;
    const name = NAMES[i]!;
    const size = sizeAt(bytes, name, at);
    if (size === undefined || at + size > bytes.length) return undefined;
    properties[name] = bytes.subarray(at, at + size);
    at += size;
  }
  return at === bytes.length ? properties : undefined;
}

export function writeProperties(properties: Properties): Buffer {
  const parts: Buffer[] = [Buffer.alloc(2)];
  let flags = 0;
  for (let i = 0, flag = HIGHEST_FLAG; i < NAMES.length; i++, flag >>= 1) {
    const value = properties[NAMES[i]!];
    if (value === undefined) continue;
    flags |= flag;
    parts.push(value);
  }
  parts[0]!.writeUInt16BE(flags, 0);
  return Buffer.concat(parts);
}

function sizeAt(bytes: Buffer, name: PropertyName, at: number): number | undefined {
  switch (name) {
    case 'deliveryMode':
    case 'priority':
      return 1;
    case 'timestamp':
      return 8;
    case 'headers':
      return at + 4 <= bytes.length ? 4 + bytes.readUInt32BE(at) : undefined;
    default:
      return at < bytes.length ? 1 + bytes[at]! : undefined;
  }
}

// --- values

/** Longest text of a property, in bytes. */
const LONGEST_SHORT_TEXT = 255;

/** `undefined` where it is too long for a property. */
export function shortText(text: string): Buffer | undefined {
  const bytes = Buffer.from(text);
  return bytes.length > LONGEST_SHORT_TEXT ? undefined : Buffer.concat([Buffer.of(bytes.length), bytes]);
}

export function textOf(property: Buffer | undefined): string | undefined {
  return property === undefined || property.length < 2 ? undefined : property.toString('utf8', 1);
}

/** Epoch seconds. */
export function timestamp(seconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(seconds));
  return bytes;
}

export function secondsOf(property: Buffer | undefined): number | undefined {
  return property === undefined ? undefined : Number(property.readBigUInt64BE(0));
}
