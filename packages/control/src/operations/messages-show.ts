import type { HeaderList } from 'lazaret';
import { namedLetter } from './named-letter.ts';
import type { Operation, Static } from './operation.ts';
import type { Letter } from './services.ts';
import { timeText } from './time-text.ts';

const input = {
  type: 'object',
  properties: {
    message: {
      type: 'string',
      minLength: 1,
      description: 'number of the letter, or id of the message or its beginning',
    },
  },
  required: ['message'],
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'of the letter' },
    message: { type: 'string', description: 'id of the message' },
    queue: { type: 'string' },
    state: { type: 'string', enum: ['open', 'released'] },
    occurrence: { type: 'integer', description: 'how often this message died' },
    key: { type: 'string' },
    reason: { type: 'string' },
    why: { type: 'string' },
    attempts: { type: 'integer' },
    strikes: { type: 'integer', description: 'starts whose process died' },
    deliveries: { type: 'integer', description: 'how often it was handed out in all' },
    firstSeenAt: { type: 'string', format: 'date-time' },
    deadAt: { type: 'string', format: 'date-time' },
    fingerprint: { type: 'string' },
    version: { type: 'string', description: 'of the service' },
    position: { type: 'string', description: 'where the broker keeps it' },
    error: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        message: { type: 'string' },
        code: { type: 'string' },
        status: { type: 'integer' },
        stack: { type: 'string' },
        causes: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, message: { type: 'string' } },
            required: ['name', 'message'],
          },
        },
      },
      required: ['name', 'message', 'causes'],
    },
    headers: {
      type: 'array',
      description: 'in their order; a value that is no text is base64',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, value: { type: 'string' }, base64: { type: 'string' } },
        required: ['name'],
      },
    },
    body: {
      type: 'object',
      description: 'absent for a tombstone; base64 where it is no UTF-8 text',
      properties: { bytes: { type: 'integer' }, text: { type: 'string' }, base64: { type: 'string' } },
      required: ['bytes'],
    },
  },
  required: [
    'id',
    'queue',
    'state',
    'occurrence',
    'reason',
    'why',
    'attempts',
    'strikes',
    'deliveries',
    'firstSeenAt',
    'deadAt',
    'fingerprint',
    'headers',
  ],
} as const;

export type MessageDetail = Static<typeof output>;
export type Body = NonNullable<MessageDetail['body']>;
type Headers = MessageDetail['headers'];
type Failure = NonNullable<MessageDetail['error']>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const messagesShow: Operation<Static<typeof input>, MessageDetail> = {
  name: 'messages show',
  summary: 'Show one quarantined message: why it died, its headers and its body',
  subject: 'message',
  input,
  output,
  run: async (services, { message }) => detailOf(await namedLetter(services, message)),
};

function detailOf(letter: Letter): MessageDetail {
  const { message, evidence } = letter;
  const { error, version, position } = evidence;
  return {
    id: letter.id,
    ...(message.id === undefined ? {} : { message: message.id }),
    queue: letter.queue,
    state: letter.state,
    occurrence: letter.occurrence,
    ...(message.key === undefined ? {} : { key: message.key }),
    reason: evidence.reason,
    why: evidence.why,
    attempts: evidence.attempts,
    strikes: evidence.strikes,
    deliveries: letter.deliveries,
    firstSeenAt: timeText(evidence.firstSeenAt),
    deadAt: timeText(evidence.deadAt),
    fingerprint: evidence.fingerprint,
    ...(version === undefined ? {} : { version }),
    ...(position === undefined ? {} : { position }),
    ...(error === undefined ? {} : { error: failureOf(error) }),
    headers: headersOf(message.headers),
    ...(message.body === null ? {} : { body: bodyOf(message.body) }),
  };
}

function failureOf({ name, message, code, status, stack, causes }: NonNullable<Letter['evidence']['error']>): Failure {
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(stack === undefined ? {} : { stack }),
    causes: causes.map((cause) => ({ name: cause.name, message: cause.message })),
  };
}

function headersOf(headers: HeaderList): Headers {
  return headers.map(([name, value]) =>
    typeof value === 'string' ? { name, value } : { name, base64: Buffer.from(value).toString('base64') },
  );
}

/** Text where it is text, so that nobody has to decode it; its bytes can be had back from either. */
function bodyOf(bytes: Uint8Array): Body {
  try {
    return { bytes: bytes.byteLength, text: utf8.decode(bytes) };
  } catch {
    return { bytes: bytes.byteLength, base64: Buffer.from(bytes).toString('base64') };
  }
}

/** The exact bytes that `body` was made of. */
export function bytesOf({ text, base64 }: Body): Uint8Array {
  return text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
}
