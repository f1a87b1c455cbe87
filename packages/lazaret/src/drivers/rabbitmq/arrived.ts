import { EVIDENCE_HEADER, HEADER } from '../../core/headers.ts';
import { type HeaderList, headerText, type Message, type Native, NO_HEADERS } from '../../core/message.ts';
import { DEATHS, deathsOf } from './deaths.ts';
import { headersOf } from './headers.ts';
import { isActing, isCount, KEPT_PREFIX, KEPT_PROPERTY, restored } from './kept.ts';
import { nativeOf } from './native.ts';
import { isTierOf } from './tiers.ts';
import { type Properties, readProperties, secondsOf, shortText, textOf, writeProperties } from './wire/properties.ts';
import { type Field, readTable, sized } from './wire/table.ts';

/** A message as it came. */
export interface Arrived {
  readonly message: Message;
  /** As they stood on the wire, the broker's own among them. */
  readonly fields: readonly Field[];
  /** Epoch milliseconds, as the producer said it; anybody can say anything. */
  readonly sentAt: number | undefined;
}

const NO_FIELDS: readonly Field[] = [];
const NO_PROPERTIES: Properties = {};
const PLAIN_EVIDENCE: readonly string[] = Object.values(EVIDENCE_HEADER);

/** `queue` is where it was taken from: deaths in the tiers of that queue are no part of it. */
export function arrived(queue: string, raw: Buffer, body: Uint8Array): Arrived {
  const properties = readProperties(raw) ?? NO_PROPERTIES;
  const sentAt = sentAtOf(properties);
  const id = textOf(properties.messageId);
  // n.b. the usual message, on the hot path: nothing to sort out, and no object more than needed.
  if (properties.headers === undefined) {
    const native = nativeOf(raw);
    return { message: messageOf(id, undefined, body, NO_HEADERS, native), fields: NO_FIELDS, sentAt };
  }
  const table = readTable(properties.headers.subarray(4)).fields;
  const isPlain = !table.some(({ name }) => name.startsWith('lazaret-') || isCount(name) || isActing(name));
  if (isPlain) {
    return { message: messageOf(id, undefined, body, headersOf(table), nativeOf(raw)), fields: table, sentAt };
  }
  const { shown, original } = apart(queue, table, properties);
  const headers = headersOf(shown);
  const ownId = headerText(headers, HEADER.id) || id;
  const native = nativeOf(writeProperties(original));
  return { message: messageOf(ownId, headerText(headers, HEADER.key), body, headers, native), fields: table, sentAt };
}

function messageOf(
  id: string | undefined,
  key: string | undefined,
  body: Uint8Array,
  headers: HeaderList,
  native: Native,
): Message {
  if (id === undefined) return key === undefined ? { body, headers, native } : { key, body, headers, native };
  return key === undefined ? { id, body, headers, native } : { id, key, body, headers, native };
}

function sentAtOf({ timestamp }: Properties): number | undefined {
  const seconds = secondsOf(timestamp);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** What everybody may see, and what the producer sent. */
interface Apart {
  readonly shown: readonly Field[];
  readonly original: Properties;
}

function apart(queue: string, table: readonly Field[], properties: Properties): Apart {
  const isLetter = table.some(({ name }) => name === HEADER.evidence);
  const ourDeaths = diedOnlyInTiers(queue, table);
  const shown: Field[] = [];
  const original: Field[] = [];
  for (const field of table) {
    const { name } = field;
    if (isCount(name) || (ourDeaths && isDeath(name)) || isKeptProperty(name)) continue;
    if (name.startsWith(KEPT_PREFIX)) {
      const before = restored(field);
      // n.b. what the evidence says has taken the place of what a producer said under the same name.
      if (!(isLetter && PLAIN_EVIDENCE.includes(before.name))) shown.push(before);
      original.push(before);
      continue;
    }
    shown.push(field);
    const isOurs = name.startsWith('lazaret-') || (isLetter && PLAIN_EVIDENCE.includes(name));
    if (!isOurs) original.push(field);
  }
  if (table.some(({ name }) => name.startsWith(KEPT_PREFIX))) original.sort(byName);
  return { shown, original: originalProperties(properties, table, original) };
}

/** By name, as servers write tables anew: what was kept under another name comes back to its place. */
function byName(a: Field, b: Field): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

function originalProperties(
  { headers: _, ...rest }: Properties,
  table: readonly Field[],
  original: readonly Field[],
): Properties {
  const expiration = keptProperty(table, KEPT_PROPERTY.expiration);
  const userId = keptProperty(table, KEPT_PROPERTY.userId);
  return {
    ...rest,
    ...(original.length === 0 ? {} : { headers: sized(Buffer.concat(original.map(({ bytes }) => bytes))) }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(userId === undefined ? {} : { userId }),
  };
}

function keptProperty(table: readonly Field[], name: string): Buffer | undefined {
  const field = table.find((candidate) => candidate.name === name);
  return field?.tag === 'S' ? shortText(field.value.toString('utf8', 4)) : undefined;
}

function isKeptProperty(name: string): boolean {
  return name === KEPT_PROPERTY.expiration || name === KEPT_PROPERTY.userId;
}

/** Copies carry no deaths, so what a message that waited in a tier has of them comes from there. */
function diedOnlyInTiers(queue: string, table: readonly Field[]): boolean {
  const deaths = deathsOf(table);
  return deaths.length > 0 && deaths.every((death) => isTierOf(queue, death.queue));
}

function isDeath(name: string): boolean {
  return name === DEATHS || name.startsWith('x-first-death-') || name.startsWith('x-last-death-');
}

/** Headers that are ours, as they travel from copy to copy. */
export function ownHeaders(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => name.startsWith('lazaret-') && !name.startsWith(KEPT_PREFIX));
}
