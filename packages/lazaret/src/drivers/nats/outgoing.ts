import { type Evidence, evidenceHeader, plainEvidenceHeaders } from '../../core/evidence.ts';
import { EVIDENCE_HEADER, HEADER } from '../../core/headers.ts';
import { type HeaderList, type Message, NO_HEADERS, withHeader, withoutHeaders } from '../../core/message.ts';
import type { Delivery, OutgoingMessage } from '../../ports/broker.ts';
import { headerBlock, isWhole } from './headers.ts';
import type { Receipt } from './receipt.ts';
import { unsendable } from './refusals.ts';

/** A message as it is published. */
export interface Parcel {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: Uint8Array | undefined;
}

/** The server stores no more than 65,535 bytes of headers, and copies of ours have more of them than their message. */
const MOST_HEADER_BYTES = 65_535;
export const HEADER_BUDGET_BYTES = 56_000;
const EVIDENCE_BYTES = 4096;
/** For the plain headers beside the evidence. */
const PLAIN_EVIDENCE_BYTES = 1_600;

const NO_BYTES = new Uint8Array(0);
const REWRITTEN: readonly string[] = [HEADER.id, HEADER.attempt, HEADER.firstSeen, HEADER.notBefore];
const FORMER_EVIDENCE: readonly string[] = [HEADER.evidence, ...Object.values(EVIDENCE_HEADER)];

/** Throws LZ1119 for what NATS cannot carry. There is no `null`: it travels as nothing. */
export function publishedParcel(subject: string, message: OutgoingMessage, mostBytes: number): Parcel {
  const { id, key, dedupeId } = message;
  let headers = message.headers ?? NO_HEADERS;
  if (id !== undefined) headers = withHeader(headers, HEADER.id, id);
  if (key !== undefined) headers = withHeader(headers, HEADER.key, key);
  for (const [name] of headers) {
    if (!isWhole(name)) throw unsendable('the name of a header is no text that UTF-8 can say');
  }
  const block = headerBlock(headers, dedupeId === undefined ? undefined : dedupeText(dedupeId));
  if (block !== undefined && block.length > HEADER_BUDGET_BYTES) {
    throw unsendable(`its headers of ${block.length} bytes are more than ${HEADER_BUDGET_BYTES}`);
  }
  const body = message.body ?? NO_BYTES;
  const bytes = body.length + (block?.length ?? 0);
  if (bytes > mostBytes) throw unsendable(`its ${bytes} bytes are more than the ${mostBytes} that the server takes`);
  return { subject, body, headers: block };
}

const PLAIN_ID = /^[!-~]+$/;

/** n.b. the ids that stand as they are cannot be taken for encoded ones: no base64url has an equals sign. */
function dedupeText(id: string): string {
  return PLAIN_ID.test(id) && !id.startsWith('=')
    ? id
    : `=${Buffer.from(id, isWhole(id) ? 'utf8' : 'utf16le').toString('base64url')}`;
}

/** A message in its stream, and who consumes it: what one consumer writes of it is not what another does. */
export interface Original extends Pick<Receipt, 'sequence' | 'storedAt'> {
  readonly stream: string;
  readonly consumer: string;
}

/** Written twice after a lost answer, it is stored once. */
function onceFor(what: string, { stream, consumer, sequence, storedAt }: Original): string {
  return `lazaret-${what}:${stream}:${consumer}:${sequence}:${storedAt}`;
}

/** What takes the place of a delivery where something has to be written to it; it carries on from its counts. */
export function copyParcel(
  subject: string,
  original: Original,
  delivery: Delivery,
  attempt: number,
  notBefore: number | undefined,
): Parcel {
  const { message, firstSeenAt } = delivery;
  const headers: HeaderList = [
    ...withoutHeaders(message.headers, REWRITTEN),
    ...idOf(message),
    [HEADER.attempt, String(attempt)],
    [HEADER.firstSeen, String(firstSeenAt)],
    ...(notBefore === undefined ? [] : [[HEADER.notBefore, String(Math.ceil(notBefore))] as const]),
  ];
  const once = onceFor('copy', original);
  return { subject, body: message.body ?? NO_BYTES, headers: headerBlock(headers, once) };
}

/** Whether the server takes it. */
export function isStorable({ body, headers }: Parcel, mostBytes: number): boolean {
  const headerBytes = headers?.length ?? 0;
  return headerBytes <= MOST_HEADER_BYTES && headerBytes + body.length <= mostBytes;
}

/** A dead letter with as much of its evidence as finds room; at the server's limit none of it does, and the message goes as it came. */
export function letterParcel(
  subject: string,
  original: Original,
  { message, firstSeenAt }: Pick<Delivery, 'message' | 'firstSeenAt'>,
  evidence: Evidence,
  mostBytes: number,
): Parcel {
  const body = message.body ?? NO_BYTES;
  const once = onceFor('letter', original);
  const wasLetter = message.headers.some(([name]) => name === HEADER.evidence);
  const brought = withoutHeaders(message.headers, [...REWRITTEN, ...(wasLetter ? FORMER_EVIDENCE : [])]);
  const own: HeaderList = [...idOf(message), [HEADER.firstSeen, String(firstSeenAt)]];
  const room = Math.min(MOST_HEADER_BYTES, mostBytes - body.length);
  const bare = headerBlock([...brought, ...own], once)!;
  const { text } = evidenceHeader(evidence, Math.min(EVIDENCE_BYTES, room - bare.length - PLAIN_EVIDENCE_BYTES));
  if (text !== undefined) {
    const headers = [...brought, ...own, ...plainEvidenceHeaders(evidence), [HEADER.evidence, text] as const];
    return { subject, body, headers: headerBlock(headers, once) };
  }
  const fitting = [bare, headerBlock(brought, once), headerBlock(brought), headerBlock([], once)];
  return { subject, body, headers: fitting.find((block) => (block?.length ?? 0) <= room) };
}

function idOf({ id }: Message): HeaderList {
  return id === undefined ? NO_HEADERS : [[HEADER.id, id]];
}
