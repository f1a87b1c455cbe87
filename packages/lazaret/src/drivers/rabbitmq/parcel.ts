import { LazaretError } from '../../core/errors.ts';
import type { Parcel } from './outlet.ts';
import { readProperties, shortText, textOf } from './wire/properties.ts';

const NO_BYTES = new Uint8Array(0);

/** AMQP has no `null`: it travels as nothing. */
export function parcelTo(exchange: string, routingKey: string, properties: Buffer, body: Uint8Array | null): Parcel {
  return {
    exchange: name(exchange),
    routingKey: name(routingKey),
    properties,
    body: body ?? NO_BYTES,
    messageId: textOf(readProperties(properties)?.messageId),
  };
}

function name(text: string): Buffer {
  const bytes = shortText(text);
  if (bytes !== undefined) return bytes;
  throw new LazaretError('LZ1119', `The name '${text.slice(0, 40)}…' is longer than the 255 bytes that AMQP takes.`, {
    hint: 'Choose a shorter one.',
  });
}
