import { deserialize, serialize } from 'node:v8';
import type { ErrorCode } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { Delivery } from '../../ports/broker.ts';
import { frame } from './framing.ts';
import { isCount, isRecord, isText } from './guards.ts';
import type { Thrown } from './thrown.ts';
import { isThrown } from './thrown.ts';

/** What a child is told. */
export type Request =
  /** The first one. `reportEveryMs`: it says how much memory it uses, because its parent cannot see it. */
  | { readonly kind: 'load'; readonly token: string; readonly parent: number; readonly reportEveryMs?: number }
  | { readonly kind: 'perform'; readonly job: number; readonly delivery: SentDelivery }
  | { readonly kind: 'abort'; readonly job: number; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'extended'; readonly ask: number; readonly ours: boolean };

/** As much of a delivery as a handler can see. */
export type SentDelivery = Omit<Delivery, 'receipt'>;

/** What a child says. Everything in it may have been written by the handler, or by its message. */
export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unloadable'; readonly thrown: Thrown }
  /** Its handler file exports no function. */
  | { readonly kind: 'unfit' }
  | { readonly kind: 'ended'; readonly job: number; readonly end: End }
  /** Asks for `ms` more. */
  | { readonly kind: 'extend'; readonly job: number; readonly ask: number; readonly ms: number }
  /** Its handler needs a dependency from now on. */
  | { readonly kind: 'needs'; readonly job: number; readonly dependency: string }
  | { readonly kind: 'uses'; readonly bytes: number }
  /** An error that nobody caught is about to end it. */
  | { readonly kind: 'dying'; readonly of: string };

export type End = { readonly kind: 'threw'; readonly thrown: Thrown } | Said;

/** What a handler can say: nothing, or an outcome by name. */
export type Said = Extract<Outcome, { readonly kind: 'done' | 'skip' | 'retryIn' | 'quarantine' }>;

/** A thrown value with all its causes and each text at its limit fits, however JSON has to write them. */
export const LONGEST_REPLY: number = 4 * 1024 ** 2;
/** In UTF-16 units, of one text that is said by name. */
export const LONGEST_WHY: number = 8 * 1024;
/** No duration that a handler can write is longer: ten years. */
const LONGEST_MS: number = 3650 * 24 * 60 * 60 * 1000;

export function encodeRequest(request: Request): Buffer {
  return frame(serialize(request));
}

/** Trusts its writer: only a parent writes to its child. */
export function decodeRequest(payload: Buffer): Request {
  return deserialize(payload);
}

export function encodeReply(token: string, reply: Reply): Buffer {
  return frame(Buffer.from(token + JSON.stringify(reply)));
}

/**
 * What a child said, or `undefined` where it is not exactly what one of ours would say. `token` was told to the child before it loaded
 * its handler and comes before anything is parsed, so that what else writes to the same pipe is not mistaken for a reply.
 */
export function decodeReply(token: string, payload: Buffer): Reply | undefined {
  const text = payload.toString();
  if (!text.startsWith(token)) return undefined;
  try {
    const reply: unknown = JSON.parse(text.slice(token.length));
    return isReply(reply) ? reply : undefined;
  } catch {
    return undefined;
  }
}

function isReply(value: unknown): value is Reply {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case 'ready':
    case 'unfit':
      return true;
    case 'unloadable':
      return isThrown(value.thrown);
    case 'ended':
      return isCount(value.job) && isEnd(value.end);
    case 'extend':
      return isCount(value.job) && isCount(value.ask) && isCount(value.ms, LONGEST_MS);
    case 'needs':
      return isCount(value.job) && isText(value.dependency, LONGEST_WHY);
    case 'uses':
      return isCount(value.bytes);
    case 'dying':
      return isText(value.of, LONGEST_WHY);
    default:
      return false;
  }
}

function isEnd(value: unknown): value is End {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case 'done':
      return true;
    case 'skip':
    case 'quarantine':
      return isText(value.why, LONGEST_WHY);
    case 'retryIn':
      return isText(value.why, LONGEST_WHY) && isCount(value.delayMs, LONGEST_MS);
    case 'threw':
      return isThrown(value.thrown);
    default:
      return false;
  }
}
