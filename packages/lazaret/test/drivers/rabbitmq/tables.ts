import { type Properties, shortText, writeProperties } from '../../../src/drivers/rabbitmq/wire/properties.ts';
import { type FieldTag, sized, writeField } from '../../../src/drivers/rabbitmq/wire/table.ts';

/** One value of every type that there is, as a producer in another language writes it. */
export function int64(n: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(n);
  return bytes;
}

export function double(n: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(n);
  return bytes;
}

function float(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatBE(n);
  return bytes;
}

export function text(value: string): Buffer {
  return sized(Buffer.from(value));
}

export function sizedText(value: string): Buffer {
  return text(value);
}

export function table(...entries: readonly Buffer[]): Buffer {
  return sized(Buffer.concat(entries));
}

export function array(...items: readonly (readonly [FieldTag, Buffer])[]): Buffer {
  return sized(Buffer.concat(items.flatMap(([tag, value]) => [Buffer.from(tag), value])));
}

export const field: typeof writeField = writeField;

/** Property bytes with this table, and whatever else. */
export function properties(entries: readonly Buffer[], rest: Properties = {}): Buffer {
  return writeProperties({ ...rest, ...(entries.length === 0 ? {} : { headers: table(...entries) }) });
}

export function short(value: string): Buffer {
  return shortText(value)!;
}

export function death(queue: string, reason = 'expired', count = 1n): readonly [FieldTag, Buffer] {
  return [
    'F',
    table(
      field('count', 'l', int64(count)),
      field('reason', 'S', text(reason)),
      field('queue', 'S', text(queue)),
      field('time', 'T', int64(1_700_000_000n)),
      field('exchange', 'S', text('')),
      field('routing-keys', 'A', array(['S', text(queue)])),
    ),
  ];
}

/** Every kind of header of which a producer's client may make use. */
export const KINDS: readonly (readonly [what: string, entry: Buffer, read: string | Uint8Array])[] = [
  ['an int64 beyond 2^53', field('h', 'l', int64(2n ** 53n + 1n)), '9007199254740993'],
  ['a small int64', field('h', 'l', int64(7n)), '7'],
  ['an int32', field('h', 'I', Buffer.of(0xff, 0xff, 0xff, 0xff)), '-1'],
  ['an uint32', field('h', 'i', Buffer.of(0xff, 0xff, 0xff, 0xff)), '4294967295'],
  ['an int16', field('h', 's', Buffer.of(0xff, 0xfe)), '-2'],
  ['an uint16', field('h', 'u', Buffer.of(0xff, 0xff)), '65535'],
  ['an int8', field('h', 'b', Buffer.of(0xff)), '-1'],
  ['an uint8', field('h', 'B', Buffer.of(0xff)), '255'],
  ['a double that is whole', field('h', 'd', double(1)), '1'],
  ['a double', field('h', 'd', double(0.5)), '0.5'],
  ['a float', field('h', 'f', float(0.5)), '0.5'],
  ['a decimal', field('h', 'D', Buffer.of(2, 0, 0, 1, 0)), '2.56'],
  ['a negative decimal', field('h', 'D', Buffer.of(2, 0xff, 0xff, 0xff, 0xff)), '-0.01'],
  ['a decimal without places', field('h', 'D', Buffer.of(0, 0, 0, 0, 9)), '9'],
  ['a time', field('h', 'T', int64(1_700_000_000n)), '1700000000'],
  ['nothing', field('h', 'V', Buffer.alloc(0)), ''],
  ['true', field('h', 't', Buffer.of(1)), 'true'],
  ['false', field('h', 't', Buffer.of(0)), 'false'],
  ['text', field('h', 'S', text('héllo 😀')), 'héllo 😀'],
  ['text with a NUL', field('h', 'S', text('a\0b')), 'a\0b'],
  ['the replacement character, as it was meant', field('h', 'S', text('\ufffd')), '\ufffd'],
  ['empty text', field('h', 'S', text('')), ''],
  ['text that is no UTF-8', field('h', 'S', sized(Buffer.of(0xff, 0xfe, 0x41))), Buffer.of(0xff, 0xfe, 0x41)],
  ['bytes', field('h', 'x', sized(Buffer.of(0, 255, 1))), Buffer.of(0, 255, 1)],
  ['a table', field('h', 'F', table(field('a', 'l', int64(5n)), field('b', 'S', text('x')))), '{"a":5,"b":"x"}'],
  ['an empty table', field('h', 'F', table()), '{}'],
  [
    'an array of all sorts',
    field('h', 'A', array(['S', text('x')], ['l', int64(3n)], ['V', Buffer.alloc(0)])),
    '["x",3,null]',
  ],
  ['an empty array', field('h', 'A', array()), '[]'],
  ['a name that objects have', field('__proto__', 'S', text('v')), 'v'],
  ['an empty name', field('', 't', Buffer.of(1)), 'true'],
  ['a name that is no UTF-8', Buffer.concat([Buffer.of(2, 0xff, 0xfe), Buffer.from('t'), Buffer.of(1)]), 'true'],
];
