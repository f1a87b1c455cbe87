import { wholeStart } from './clip.ts';
import type { Reason } from './evidence.ts';
import { fnv1a64 } from './fnv.ts';
import { ownFrames } from './frames.ts';
import { messageShape } from './message-shape.ts';
import type { NormalError } from './normalise.ts';
import { framesStart } from './stack-head.ts';

/** What a fingerprint is taken of. */
export interface Failing {
  readonly error?: NormalError | undefined;
  readonly reason: Reason;
  /** The step of the handler in which it happened, where one is named. */
  readonly stage?: string | undefined;
}

/** How a fingerprint came about, for people and for other languages. */
export interface FingerprintRecipe {
  readonly fingerprint: string;
  /** What was hashed, line by line: UTF-8, joined by `\n`, FNV-1a of 64 bits. */
  readonly lines: readonly string[];
}

const VERSION = 'v1';
/** Links of the cause chain, the thrown error included. */
const LINKS = 4;
const FRAMES = 5;
const STACK_LOOKED_AT = 32 * 1024;
const LONGEST_NAME = 256;

/**
 * `v1:` and 16 hex digits: equal for failures with one cause, whatever ids, hosts, moments and folders they carry.
 * Of an error: types (with code and status) and message shapes along the cause chain, and the top frames of own code. Without
 * an error: the reason. Pure and bounded; the same input gives the same text in every process and version that says `v1`.
 */
export function fingerprint(failing: Failing): string {
  return explainFingerprint(failing).fingerprint;
}

/** The same, with what it was made of. */
export function explainFingerprint({ error, reason, stage }: Failing): FingerprintRecipe {
  const lines = error === undefined ? [`reason ${reason}`] : [...errorLines(error), ...frameLines(error)];
  if (stage !== undefined) lines.push(`stage ${onOneLine(stage)}`);
  return { fingerprint: `${VERSION}:${fnv1a64(lines.join('\n'))}`, lines };
}

/** A host with several addresses fails once for each: links that look the same count once. */
function errorLines(error: NormalError): string[] {
  const lines = [errorLine(error)];
  for (let at = 0; at < error.causes.length && at < LINKS - 1; at++) {
    const line = errorLine(error.causes[at]!);
    if (!lines.includes(line)) lines.push(line);
  }
  return lines;
}

function errorLine(error: NormalError): string {
  return `error ${typeOf(error)}: ${messageShape(error.message)}`;
}

const PLAIN_CODE = /^(?:[A-Za-z_][\w.-]{0,63}|[0-9A-Z]{5}|-?\d{1,5})$/;

/** Code and status stand beside the name, since a message loses its numbers. */
function typeOf({ name, code, status }: NormalError): string {
  const type = onOneLine(name);
  const withCode = code === undefined ? type : `${type} ${PLAIN_CODE.test(code) ? code : messageShape(code)}`;
  return status === undefined || String(status) === code ? withCode : `${withCode} ${status}`;
}

/** Of the first link that has any: errors of the runtime come without, those who wrap them with. */
function frameLines(error: NormalError): readonly string[] {
  const own = framesOf(error);
  if (own.length > 0) return own;
  for (let at = 0; at < error.causes.length && at < LINKS - 1; at++) {
    const below = framesOf(error.causes[at]!);
    if (below.length > 0) return below;
  }
  return own;
}

/** What fails in a storm fails at the same place: the last answer is kept. */
let lastTrace = '';
let lastLines: readonly string[] = [];

function framesOf({ stack, message }: NormalError): readonly string[] {
  if (stack === undefined) return [];
  const start = framesStart(stack, message);
  const trace = stack.slice(start, start + STACK_LOOKED_AT);
  if (trace !== lastTrace) {
    lastLines = ownFrames(trace, FRAMES).map(({ call, file }) => `frame ${call} ${file}`);
    lastTrace = trace;
  }
  return lastLines;
}

const LINE_BREAKS = /[\r\n]+/g;

function onOneLine(text: string): string {
  return wholeStart(text, LONGEST_NAME).replace(LINE_BREAKS, ' ');
}
