import type { Native } from '../../core/message.ts';
import { type Properties, readProperties } from './wire/properties.ts';
import { type Field, isSound, readTable } from './wire/table.ts';

/** The lossless envelope: the properties of a message as its producer sent them, in AMQP's own bytes. */
const NATIVE_DRIVER = 'rabbitmq';
const NATIVE_VERSION = 1;

export function nativeOf(bytes: Uint8Array): Native {
  return { driver: NATIVE_DRIVER, version: NATIVE_VERSION, bytes };
}

/** What an envelope holds. */
export interface Envelope {
  readonly properties: Properties;
  readonly fields: readonly Field[];
}

/** `undefined` for one of another driver, and for one that is broken: a server ends the connection of whoever sends it that. */
export function openNative(native: Native): Envelope | undefined {
  if (native.driver !== NATIVE_DRIVER || native.version !== NATIVE_VERSION) return undefined;
  const { buffer, byteOffset, byteLength } = native.bytes;
  const properties = readProperties(Buffer.from(buffer, byteOffset, byteLength));
  if (properties === undefined) return undefined;
  if (properties.headers === undefined) return { properties, fields: [] };
  const table = properties.headers.subarray(4);
  return isSound(table) ? { properties, fields: readTable(table).fields } : undefined;
}
