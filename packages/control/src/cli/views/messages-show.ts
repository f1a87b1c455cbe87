import { type Body, bytesOf, type MessageDetail } from '../../operations/messages-show.ts';
import { hexDump } from '../hex-dump.ts';
import { prettyJson } from '../pretty-json.ts';
import type { Cell, Part, Sight, View } from '../view.ts';
import { ageCell } from './cells.ts';

const PREVIEW_CHARACTERS = 16_384;
/** Of a longer text nothing but its beginning is seen anyway. */
const LAID_OUT_CHARACTERS = 262_144;
const PREVIEW_BYTES = 512;

export const messagesShowView: View<MessageDetail> = {
  document: 'message@1',
  show: (message, sight) => ({
    parts: [
      { kind: 'fields', fields: facts(message, sight) },
      ...failure(message),
      ...headers(message),
      bodyPart(message.body),
    ],
    ...(message.state === 'open' ? { next: ['lazaret', 'messages', 'release', message.id] } : {}),
  }),
  raw: ({ body }) => (body === undefined ? new Uint8Array() : bytesOf(body)),
};

function facts(message: MessageDetail, { now }: Sight): readonly (readonly [string, Cell])[] {
  const times = message.occurrence > 1 ? ` (it died ${message.occurrence} times)` : '';
  const known: readonly (readonly [string, Cell | undefined])[] = [
    ['letter', message.id],
    ['message', message.message],
    ['queue', message.queue],
    ['key', message.key],
    ['state', message.state],
    ['reason', `${message.reason}${times}`],
    ['why', message.why],
    ['attempts', message.attempts],
    ['strikes', message.strikes],
    ['deliveries', message.deliveries],
    ['first seen', when(message.firstSeenAt, now)],
    ['died', when(message.deadAt, now)],
    ['cause', message.fingerprint],
    ['version', message.version],
    ['position', message.position],
  ];
  return known.filter((fact): fact is readonly [string, Cell] => fact[1] !== undefined);
}

function when(at: string, now: number): Cell {
  const cell = ageCell(at, now) as { people: string };
  return { people: cell.people === 'now' ? at : `${at} (${cell.people} ago)`, exact: at };
}

function failure({ error }: MessageDetail): readonly Part[] {
  if (error === undefined) return [];
  const { name, message, code, status, stack, causes } = error;
  const marks = [
    ...(code === undefined ? [] : [`code ${code}`]),
    ...(status === undefined ? [] : [`status ${status}`]),
  ];
  const text = [
    // A stack begins with name and message.
    stack ?? `${name}: ${message}`,
    ...causes.map((cause) => `caused by ${cause.name}: ${cause.message}`),
  ].join('\n');
  return [{ kind: 'block', name: 'error', ...(marks.length === 0 ? {} : { note: marks.join(' · ') }), text }];
}

function headers({ headers }: MessageDetail): readonly Part[] {
  if (headers.length === 0) return [];
  const rows = headers.map(({ name, value, base64 }) => [name, value ?? `base64:${base64}`]);
  return [{ kind: 'table', columns: [{ title: 'HEADER' }, { title: 'VALUE', wide: true }], rows }];
}

function bodyPart(body: Body | undefined): Part {
  if (body === undefined) return { kind: 'block', name: 'body', note: 'none (a tombstone)', text: '' };
  const text = { people: preview(body), exact: body.text ?? `base64:${body.base64}` };
  return { kind: 'block', name: 'body', note: `${body.bytes} bytes`, text };
}

/** JSON is laid out without touching what it says; other text stays as it is; the rest is shown as bytes. */
function preview(body: Body): string {
  if (body.text === undefined) return hexDump(bytesOf(body), PREVIEW_BYTES);
  return shortened(body.text.length <= LAID_OUT_CHARACTERS && isJson(body.text) ? prettyJson(body.text) : body.text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function shortened(text: string): string {
  if (text.length <= PREVIEW_CHARACTERS) return text;
  return `${text.slice(0, PREVIEW_CHARACTERS)}\n… ${text.length - PREVIEW_CHARACTERS} more characters: add --raw`;
}
