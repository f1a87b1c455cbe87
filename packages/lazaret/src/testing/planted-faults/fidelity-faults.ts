import type { HeaderList } from '../../core/message.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { publishing, rewrittenJson, without } from './planting.ts';

/** What can go wrong with bodies and headers on their way. */
export const FIDELITY_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a body is read as text and written anew',
    shape: 'table',
    caughtBy: ['keeps a body of every byte there is, which is no UTF-8'],
    plant: publishing((message) => ({
      ...message,
      body: message.body && Buffer.from(Buffer.from(message.body).toString()),
    })),
  },
  {
    name: 'a body of JSON is parsed and written anew',
    shape: 'channel',
    caughtBy: ['keeps a body of numbers beyond 2^53, as they were written'],
    plant: publishing((message) => ({ ...message, body: rewrittenJson(message.body) })),
  },
  {
    name: 'null becomes empty',
    shape: 'log',
    caughtBy: ['keeps null apart from empty'],
    plant: publishing((message) => ({ ...message, body: message.body ?? new Uint8Array(0) })),
  },
  {
    name: 'empty becomes null',
    shape: 'table',
    caughtBy: ['keeps a body of no bytes'],
    plant: publishing((message) => ({ ...message, body: message.body?.length === 0 ? null : message.body })),
  },
  {
    name: 'headers of one name collapse',
    shape: 'table',
    caughtBy: ['keeps headers with names that repeat'],
    plant: publishing((message) => ({ ...message, headers: [...new Map(message.headers ?? [])] })),
  },
  {
    name: 'headers go through a plain object',
    shape: 'table',
    caughtBy: ['keeps headers with names that objects have', 'keeps headers with their order'],
    plant: publishing((message) => {
      const object: Record<string, unknown> = {};
      for (const [name, value] of message.headers ?? []) object[name] = value;
      return { ...message, headers: Object.entries(object) as unknown as HeaderList };
    }),
  },
  {
    name: 'half a surrogate pair becomes a question mark',
    shape: 'table',
    caughtBy: ['keeps half a surrogate pair, or says that it cannot'],
    plant: headersOf(([name, value]) => [name, typeof value === 'string' ? Buffer.from(value).toString() : value]),
  },
  {
    name: 'a body ends at its first NUL',
    shape: 'table',
    caughtBy: ['keeps a body of a NUL'],
    plant: publishing((message) => {
      const end = message.body?.indexOf(0) ?? -1;
      return end < 0 ? message : { ...message, body: message.body!.slice(0, end) };
    }),
  },
  {
    name: 'a body loses its byte-order mark',
    shape: 'log',
    caughtBy: ['keeps a body of a byte-order mark and line ends of all kinds'],
    plant: publishing((message) => ({
      ...message,
      body: message.body && Buffer.from(new TextDecoder().decode(message.body)),
    })),
  },
  {
    name: 'characters outside the first plane are cut',
    shape: 'channel',
    caughtBy: ['keeps a body of emoji and combining characters'],
    plant: publishing((message) => ({ ...message, body: message.body && Buffer.from(basicPlane(message.body)) })),
  },
  {
    name: 'a body ends after 256 KiB',
    shape: 'table',
    caughtBy: ['keeps a body of a megabyte'],
    plant: publishing((message) => ({ ...message, body: message.body?.slice(0, 256 * 1024) ?? null })),
  },
  {
    name: 'names of headers are written small',
    shape: 'table',
    caughtBy: ['keeps headers with names that differ in case'],
    plant: headersOf(([name, value]) => [name.toLowerCase(), value]),
  },
  {
    name: 'headers without a value are dropped',
    shape: 'log',
    caughtBy: ['keeps headers with empty values'],
    plant: publishing((message) => ({
      ...message,
      headers: (message.headers ?? []).filter(([, value]) => value.length > 0),
    })),
  },
  {
    name: 'headers are written in Latin-1',
    shape: 'channel',
    caughtBy: ['keeps headers with text of all planes'],
    plant: headersOf(([name, value]) => [
      name,
      typeof value === 'string' ? Buffer.from(value, 'latin1').toString('latin1') : value,
    ]),
  },
  {
    name: 'headers that look like numbers become some',
    shape: 'table',
    caughtBy: ['keeps headers with numbers, dates and JSON as text'],
    plant: headersOf(([name, value]) => [
      name,
      typeof value === 'string' && /^[0-9.]+$/.test(value) ? String(Number(value)) : value,
    ]),
  },
  {
    name: 'bytes in headers are read as text',
    shape: 'channel',
    caughtBy: ['keeps headers with bytes that are no text'],
    plant: headersOf(([name, value]) => [name, typeof value === 'string' ? value : Buffer.from(value).toString()]),
  },
  {
    name: 'headers end after 1 KiB',
    shape: 'log',
    caughtBy: ['keeps headers with a long value'],
    plant: headersOf(([name, value]) => [name, value.slice(0, 1024)]),
  },
  {
    name: 'the envelope of the driver is forgotten',
    shape: 'table',
    caughtBy: ['keeps the envelope of the driver'],
    plant: publishing((message) => without(message, 'native')),
  },
];

function headersOf(change: (header: HeaderList[number]) => HeaderList[number]): PlantedFault['plant'] {
  return publishing((message) => ({ ...message, headers: (message.headers ?? []).map(change) }));
}

function basicPlane(body: Uint8Array): string {
  return Buffer.from(body)
    .toString()
    .replace(/[\u{10000}-\u{10ffff}]/gu, '?');
}
