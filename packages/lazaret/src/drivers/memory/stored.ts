import { LazaretError } from '../../core/errors.ts';
import type { Evidence } from '../../core/evidence.ts';
import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import { withEvidence } from '../../core/letter.ts';
import type { HeaderList, HeaderValue, Message } from '../../core/message.ts';
import { headerText, withHeader, withoutHeaders } from '../../core/message.ts';
import type { Delivery, OutgoingMessage } from '../../ports/broker.ts';

/** No time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

/** A message of its own, so that nobody's later write changes what is stored, or what another was handed. */
export function ownCopy({ id, key, body, headers, native }: OutgoingMessage): Message {
  return {
    ...(id === undefined ? {} : { id }),
    ...(key === undefined ? {} : { key }),
    body: body === null ? null : ownBytes(body),
    headers: (headers ?? []).map(([name, value]) => [name, ownValue(value)] as const),
    ...(native === undefined ? {} : { native: { ...native, bytes: ownBytes(native.bytes) } }),
  };
}

function ownValue(value: HeaderValue): HeaderValue {
  return typeof value === 'string' ? value : ownBytes(value);
}

/** n.b. `slice` of a Buffer is a view, not a copy. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Throws LZ1119 where the server would not take it. */
export function checkRoom({ headers }: OutgoingMessage, budgetBytes: number): void {
  let bytes = 0;
  for (const [name, value] of headers ?? []) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  if (bytes <= budgetBytes) return;
  throw new LazaretError(
    'LZ1119',
    `Headers of ${bytes} bytes are more than the ${budgetBytes} that the server takes.`,
    {
      hint: 'Put what is large into the body.',
    },
  );
}

/** What a message says about its own past, in headers that anybody may have written: parsed strictly and clamped. */
export interface Past {
  readonly attempt: number;
  readonly firstSeenAt: number;
  readonly notBefore: number | undefined;
}

/** `publishedAt` stands for the first time seen where no header says one. */
export function pastOf(headers: HeaderList, publishedAt: number, maxAttempts: number, now: number): Past {
  return {
    attempt: readAttempt(headers, maxAttempts),
    firstSeenAt: Math.floor(readTime(headers, HEADER.firstSeen, 0, now) ?? publishedAt),
    notBefore: readTime(headers, HEADER.notBefore, 0, now + FURTHEST_MS),
  };
}

/** A fresh copy to hand out, with the id that it goes by: `lazaret-id` before the broker's own. */
export function handedCopy(message: Message): Message {
  const id = headerText(message.headers, HEADER.id) ?? message.id;
  const copy = ownCopy(message);
  return id === undefined ? copy : { ...copy, id };
}

/** What a retry or a long release puts in the place of a delivery. */
export function retryCopy({ message }: Delivery, id: string, past: Past): Message {
  let headers = withHeader(message.headers, HEADER.id, id);
  headers = withHeader(headers, HEADER.attempt, String(past.attempt));
  headers = withHeader(headers, HEADER.firstSeen, String(past.firstSeenAt));
  headers =
    past.notBefore === undefined
      ? withoutHeaders(headers, [HEADER.notBefore])
      : withHeader(headers, HEADER.notBefore, String(Math.ceil(past.notBefore)));
  return ownCopy({ ...message, id, headers });
}

/** What is written to the dead-letter queue: a message at its first attempt, with its evidence. */
export function letterCopy({ message, firstSeenAt }: Delivery, evidence: Evidence, id: string): Message {
  let headers = withoutHeaders(message.headers, [HEADER.attempt, HEADER.notBefore]);
  headers = withHeader(headers, HEADER.id, id);
  headers = withHeader(headers, HEADER.firstSeen, String(firstSeenAt));
  return ownCopy({ ...message, id, headers: withEvidence(headers, evidence) });
}
