import { type FieldTag, readArray, readTable } from './wire/table.ts';

const DEEPEST = 16;

/**
 * A value of any type as text: numbers in decimal (whole ones of all 64 bits), true and false, a time as its epoch seconds,
 * nothing as the empty text, arrays and tables as JSON. What lies too deep is `null`.
 */
export function plainText(tag: FieldTag, value: Buffer): string {
  switch (tag) {
    case 'S':
      return value.toString('utf8', 4);
    case 'x':
      return value.toString('base64', 4);
    case 'V':
      return '';
    case 'D':
      return decimal(value[0]!, value.readInt32BE(1));
    default:
      return json(tag, value, 0);
  }
}

function json(tag: FieldTag, value: Buffer, depth: number): string {
  switch (tag) {
    case 't':
      return value[0] === 0 ? 'false' : 'true';
    case 'b':
      return String(value.readInt8(0));
    case 'B':
      return String(value.readUInt8(0));
    case 's':
      return String(value.readInt16BE(0));
    case 'u':
      return String(value.readUInt16BE(0));
    case 'I':
      return String(value.readInt32BE(0));
    case 'i':
      return String(value.readUInt32BE(0));
    case 'l':
    case 'T':
      return String(value.readBigInt64BE(0));
    case 'f':
      return String(value.readFloatBE(0));
    case 'd':
      return String(value.readDoubleBE(0));
    case 'V':
      return 'null';
    case 'D':
    case 'S':
    case 'x':
      return JSON.stringify(plainText(tag, value));
    case 'A': {
      if (depth >= DEEPEST) return 'null';
      return `[${readArray(value.subarray(4))
        .items.map((item) => json(item.tag, item.value, depth + 1))
        .join(',')}]`;
    }
    case 'F': {
      if (depth >= DEEPEST) return 'null';
      const { fields } = readTable(value.subarray(4));
      const entries = fields.map(({ name, tag, value }) => `${JSON.stringify(name)}:${json(tag, value, depth + 1)}`);
      return `{${entries.join(',')}}`;
    }
  }
}

function decimal(places: number, digits: number): string {
  if (places === 0) return String(digits);
  const sign = digits < 0 ? '-' : '';
  const text = String(Math.abs(digits)).padStart(places + 1, '0');
  return `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}
