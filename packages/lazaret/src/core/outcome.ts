import type { Reason } from './evidence.ts';
import type { NormalError } from './normalise.ts';

/** How one run of a handler ended. Said by the runtime, read by `decide`. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The handler passed its deadline. */
  | { readonly kind: 'timeout'; readonly failure: Failure }
  /** Said by name, on `ctx`. */
  | { readonly kind: 'skip'; readonly why: string }
  | { readonly kind: 'retryIn'; readonly delayMs: number; readonly why: string }
  | { readonly kind: 'quarantine'; readonly why: string }
  /** Found before the handler ran. */
  | { readonly kind: 'refused'; readonly reason: Reason; readonly why: string }
  /** It is not the message's doing: shutdown, a busy key, no room. */
  | { readonly kind: 'givenBack'; readonly delayMs: number; readonly why: string };

/** What classification found out about a thrown value. */
export interface Failure {
  /** poison: never succeeds. transient: a dependency's doing. unknown: all else. */
  readonly kind: 'poison' | 'transient' | 'unknown';
  /** The reason of the letter, should it come to one at once. */
  readonly reason: Reason;
  /** The rule that matched, for `explain` and evidence: 'user', 'Poison', 'http 503', 'sqlstate 40001', 'errno ECONNRESET', … */
  readonly rule: string;
  /** What the dependency asked for, clamped to 24 h. */
  readonly retryAfterMs?: number;
  /** Name of the dependency, where the classifier or the handler said one. */
  readonly dependency?: string;
  readonly error: NormalError;
}

/** What becomes of a delivery. */
export type Decision =
  | { readonly verb: 'ack' }
  | { readonly verb: 'retry'; readonly delayMs: number; readonly notBefore?: number }
  | { readonly verb: 'hold'; readonly delayMs: number; readonly charged: boolean }
  | { readonly verb: 'release'; readonly delayMs: number; readonly notBefore?: number }
  | { readonly verb: 'quarantine'; readonly reason: Reason };
