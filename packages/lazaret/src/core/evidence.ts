import { clip, oneLine, wholeStart } from './clip.ts';
import { EVIDENCE_HEADER } from './headers.ts';
import type { HeaderList } from './message.ts';
import type { NormalError } from './normalise.ts';
import { isTime } from './read-evidence.ts';

export { readEvidence } from './read-evidence.ts';

/** Why a message lies in the quarantine. */
export type Reason =
  | 'poison'
  | 'exhausted'
  | 'handler-timeout'
  | 'crash'
  | 'oversize'
  | 'undecodable'
  | 'schema'
  | 'key-payload-mismatch'
  | 'blocked-key'
  | 'destination-missing'
  | 'expired'
  | 'maxlen'
  | 'manual';

/** What travels with a dead letter. Times are epoch milliseconds. Everything textual is bounded and attacker-controlled. */
export interface Evidence {
  readonly reason: Reason;
  readonly queue: string;
  /** Charged attempts, the last one included. */
  readonly attempts: number;
  readonly strikes: number;
  readonly firstSeenAt: number;
  readonly deadAt: number;
  readonly fingerprint: string;
  /** A sentence for people: the first line of the error, or what was said with `ctx.quarantine`. */
  readonly why: string;
  readonly error?: NormalError;
  readonly position?: string;
  /** The broker's own delivery count. */
  readonly deliveries?: number;
  /** Version of the service, as configured. */
  readonly version?: string;
}

/** The evidence as the value of one header, and how much of it found room. */
export type EvidenceHeader =
  | { readonly level: 'full' | 'truncated' | 'minimal'; readonly text: string }
  /** No room for any of it: it goes to log, event and journal. */
  | { readonly level: 'bare'; readonly text: undefined };

const BARE: EvidenceHeader = Object.freeze({ level: 'bare', text: undefined });

const MAX_BYTES = 4096;

/**
 * One line of printable ASCII, which every header carrier takes, in at most `budgetBytes` and never more than 4,096 bytes.
 * What has no room goes in this order, marked `"truncated":true`: stacks, causes, the ends of long texts; then all but reason,
 * queue, counts, times and fingerprint; then the queue; then everything. Never throws, and never grows by being read and
 * written again.
 */
export function evidenceHeader(evidence: Evidence, budgetBytes: number): EvidenceHeader {
  const budget = Math.min(budgetBytes, MAX_BYTES);
  const full = textLength(evidence) > budget ? undefined : encode(fullDraft(evidence));
  if (full !== undefined && fits(full, budget)) return { level: 'full', text: full };
  const truncated = encode(truncatedDraft(evidence, budget));
  if (fits(truncated, budget)) return { level: 'truncated', text: truncated };
  const minimal = minimalDraft(evidence);
  const least = [encode(minimal), encode({ ...minimal, queue: undefined })].find((text) => fits(text, budget));
  return least === undefined ? BARE : { level: 'minimal', text: least };
}

/** ASCII: a character is a byte. A budget that is no number fits nothing. */
function fits(text: string, budget: number): boolean {
  return text.length <= budget;
}

/** At least so many bytes, without having to write them. */
function textLength({ why, error }: Evidence): number {
  let length = why.length;
  for (const link of error === undefined ? [] : [error, ...error.causes]) {
    length += link.message.length + (link.stack?.length ?? 0);
  }
  return length;
}

/** What is about to be written. `''` is what an absent text is read as, so it is left out. */
type Draft = Readonly<Record<string, unknown>>;

function fullDraft(evidence: Evidence): Draft {
  const { queue, why, error } = evidence;
  return { ...evidence, queue: queue || undefined, why: why || undefined, error: error && wholeError(error) };
}

function wholeError({ causes, ...head }: NormalError): Draft {
  return { ...head, causes: causes.map(({ causes: _none, ...cause }) => cause) };
}

function minimalDraft({ reason, queue, attempts, strikes, firstSeenAt, deadAt, fingerprint }: Evidence): Draft {
  const queueOrNone = queue || undefined;
  return { reason, queue: queueOrNone, attempts, strikes, firstSeenAt, deadAt, fingerprint, truncated: true };
}

/** Where not everything fits, what repeats the error or is for people only gets no more than this. */
const SHORT = { why: 256, position: 256, version: 128, code: 64 } as const;

function truncatedDraft(evidence: Evidence, budget: number): Draft {
  const { error, why, position, version, deliveries } = evidence;
  const draft: Draft = {
    ...minimalDraft(evidence),
    why: clip(why, SHORT.why) || undefined,
    position: position && clip(position, SHORT.position),
    version: version && clip(version, SHORT.version),
    deliveries,
  };
  return error === undefined ? draft : { ...draft, error: shorten(error, budget - sizeOf(draft)) };
}

const ERROR_FRAME = ',"error":'.length;
const STACK_FRAME = ',"stack":""'.length;
const COMMA = 1;
const QUOTES = 2;
/** Less of a stack than this tells nothing. */
const SHORTEST_STACK = 80;

/** As many causes as fit without their stacks, then as much of the stack; without room for the message, its beginning. */
function shorten(error: NormalError, room: number): Draft {
  const head = headOf(error);
  let left = room - ERROR_FRAME - sizeOf({ ...head, causes: [] });
  if (left < 0) return { ...head, message: beginning(head.message, left + sizeOf(head.message) - QUOTES), causes: [] };
  const causes: Draft[] = [];
  for (const cause of error.causes) {
    const next = headOf(cause);
    left -= sizeOf(next) + COMMA;
    if (left < 0) return { ...head, causes };
    causes.push(next);
  }
  const stack = left - STACK_FRAME < SHORTEST_STACK ? '' : beginning(error.stack ?? '', left - STACK_FRAME);
  return stack === '' ? { ...head, causes } : { ...head, stack, causes };
}

function headOf({ name, message, code, status }: NormalError): Draft & { readonly message: string } {
  return { name, message: wholeStart(message, MAX_BYTES), code: code && clip(code, SHORT.code), status };
}

/** The longest beginning of `text` that takes at most `room` bytes inside the quotes. */
function beginning(text: string, room: number): string {
  let at = 0;
  for (let used = 0; at < text.length; at++) {
    used += escapedSize(text.charCodeAt(at));
    if (used > room) break;
  }
  return wholeStart(text, at);
}

const SHORT_ESCAPES = '"\\\b\f\n\r\t';

function escapedSize(unit: number): number {
  if (SHORT_ESCAPES.includes(String.fromCharCode(unit))) return 2;
  return unit < 0x20 || unit > 0x7e ? 6 : 1;
}

const NOT_ASCII = /[^ -~]/g;

function encode(value: unknown): string {
  return JSON.stringify(value).replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function sizeOf(value: unknown): number {
  return encode(value).length;
}

// --- for people and other tools

const LONGEST_QUEUE = 512;
const LONGEST_LINE = 256;

/** The evidence in a few plain headers, each on one line and without control characters; what is empty is left out. */
export function plainEvidenceHeaders(evidence: Evidence): HeaderList {
  const { queue, reason, why, attempts, firstSeenAt } = evidence;
  const headers: HeaderList = [
    [EVIDENCE_HEADER.originalQueue, oneLine(queue, LONGEST_QUEUE)],
    [EVIDENCE_HEADER.error, oneLine(why, LONGEST_LINE) || reason],
    [EVIDENCE_HEADER.attempts, String(attempts)],
    [EVIDENCE_HEADER.firstSeen, isTime(firstSeenAt) ? new Date(firstSeenAt).toISOString() : ''],
  ];
  return headers.filter(([, value]) => value !== '');
}
