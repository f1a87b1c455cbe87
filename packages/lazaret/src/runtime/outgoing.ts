import { parseDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';
import type { HeaderList, HeaderValue } from '../core/message.ts';
import { optionError, shown } from '../core/option-error.ts';
import { givenOptions } from '../core/option-values.ts';
import type { Broker, OutgoingMessage, PublishResult } from '../ports/broker.ts';

export interface SendOptions {
  /** The event's id, never an entity's: retries and replays keep it. It does not deduplicate: that is `dedupeId`. A fresh one by default. */
  readonly id?: string;
  /** Ordering key. None by default. */
  readonly key?: string;
  /** By name; as a list where a name may stand more than once. None by default. */
  readonly headers?: HeaderList | Readonly<Record<string, HeaderValue>>;
  /** Not before so long from now: '5m'. At least '0s', which is the default; how much is possible is the broker's say. */
  readonly delay?: string;
  /** A second message with it, inside the broker's window, is not stored. None by default. */
  readonly dedupeId?: string;
}

const NAMES: Readonly<Record<keyof SendOptions, true>> = {
  id: true,
  key: true,
  headers: true,
  delay: true,
  dedupeId: true,
};

/**
 * Sends one message; resolves when it is durable. Rejects with LZ1001, LZ1002, LZ1042 or LZ1043 for what cannot be sent so, and with
 * LZ1208 where the broker refused it or could not say what became of it.
 */
export async function send(
  broker: Broker,
  queue: string,
  body: unknown,
  options: SendOptions,
  freshId: () => string,
): Promise<void> {
  const given = givenOptions(options, Object.keys(NAMES), 'send');
  const id = textOf(given.get('id'), 'id') ?? freshId();
  const key = textOf(given.get('key'), 'key');
  const dedupeId = textOf(given.get('dedupeId'), 'dedupeId');
  const headers = headersOf(given.get('headers'));
  const delay = given.get('delay');
  const message: OutgoingMessage = {
    id,
    body: encode(body),
    ...(key === undefined ? {} : { key }),
    ...(dedupeId === undefined ? {} : { dedupeId }),
    ...(headers === undefined ? {} : { headers }),
  };
  const [result] = await broker.publish(
    queue,
    [message],
    delay === undefined ? {} : { delayMs: parseDuration(delay, 'delay') },
  );
  if (result !== 'done') throw refusal(queue, id, result);
}

function textOf(value: unknown, option: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw optionError('LZ1002', option, `${shown(value)} is not text.`, 'Write a string.');
}

/** Headers as a list. Throws LZ1002 for what is none. */
export function headersOf(value: unknown): HeaderList | undefined {
  if (value === undefined) return undefined;
  const todo = "Write { name: 'value' } or [['name', 'value']]; a value is text or bytes.";
  if (!Array.isArray(value) && !isRecord(value))
    throw optionError('LZ1002', 'headers', `${shown(value)} is no headers.`, todo);
  const list: readonly unknown[] = Array.isArray(value) ? value : Object.entries(value);
  for (const header of list) {
    if (isHeader(header)) continue;
    const named = Array.isArray(header) && typeof header[0] === 'string' ? ` of ${shown(header[0])}` : '';
    throw optionError('LZ1002', 'headers', `the entry${named} is no header.`, todo);
  }
  return list as HeaderList;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isHeader(entry: unknown): boolean {
  if (!Array.isArray(entry) || entry.length !== 2) return false;
  const [name, value] = entry as readonly unknown[];
  return typeof name === 'string' && (typeof value === 'string' || value instanceof Uint8Array);
}

/** Bytes go as they are, `null` as a tombstone, and everything else as JSON. */
export function encode(body: unknown): Uint8Array | null {
  if (body === null || body instanceof Uint8Array) return body;
  const kind = unsayable(body);
  if (kind !== undefined) throw cannotBeSent(kind);
  const text = json(body);
  if (text === undefined) throw cannotBeSent(`of type '${typeof body}'`);
  return new TextEncoder().encode(text);
}

function json(body: unknown): string | undefined {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw cannotBeSent('that JSON.stringify refuses', cause);
  }
}

/** What JSON would turn into something else without a word. */
function unsayable(body: unknown): string | undefined {
  if (ArrayBuffer.isView(body)) return 'that is a view of bytes, but no Uint8Array,';
  for (const kind of [ArrayBuffer, SharedArrayBuffer, Map, Set, Promise]) {
    if (body instanceof kind) return `of type '${kind.name}'`;
  }
  return undefined;
}

function cannotBeSent(kind: string, cause?: unknown): LazaretError {
  return new LazaretError('LZ1002', `send: a body ${kind} cannot be sent.`, {
    hint: 'Send a Uint8Array, null, or a value that JSON can say.',
    cause,
  });
}

function refusal(queue: string, id: string, result: PublishResult | undefined): LazaretError {
  const what = `message '${id}' was not sent to queue '${queue}'`;
  if (result instanceof Error) {
    const hint = 'Mend what it names, and send it again with the same id.';
    return new LazaretError('LZ1208', `${what}: ${sentence(result.message)}`, { cause: result, hint });
  }
  switch (result) {
    case 'unknown':
      return new LazaretError(
        'LZ1208',
        `whether message '${id}' reached queue '${queue}' is unknown: the confirmation was lost.`,
        {
          hint: 'Send it again with the same id.',
        },
      );
    case 'unroutable':
      return new LazaretError('LZ1208', `${what}: the broker has nowhere to put it.`, {
        hint: 'Create the queue, or correct its name.',
      });
    default:
      return new LazaretError('LZ1208', `${what}: the broker refused it.`, {
        hint: 'Look whether it is too large for the queue, or the queue is full.',
      });
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
