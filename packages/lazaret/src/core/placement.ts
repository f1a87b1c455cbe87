import type { Decision } from './outcome.ts';

/** What a wait is short of the end of what a delivery has left. */
const UNDERWAY_SHARE = 0.1;
const LONGEST_UNDERWAY_MS = 5_000;
/** Longest wait for which a delivery is kept in memory only because a copy of it would be dear. */
export const HOLD_AT_MOST_MS = 10_000;

/** Where a decision can be carried out: what the queue's broker does, and how things stand here and now. Times in milliseconds. */
export interface Terms {
  /** Who remembers charged failures. 'copy': a retry costs one, and its end of the queue. */
  readonly failures: 'row' | 'copy' | 'journal';
  readonly retryKeepsOrder: boolean;
  readonly release: 'counted' | 'free' | 'hold';
  readonly maxDelayMs: number;
  readonly delayGrainMs: number;
  readonly ordering: 'none' | 'key';
  /** How long the delivery can wait here and still run afterwards, heartbeats included; Infinity where no lease ends. */
  readonly leaseLeftMs: number;
  /** Held deliveries take at most half of the credit. */
  readonly holdRoom: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The broker cannot hide this delivery beyond it (epoch milliseconds). */
  readonly delayCapAt?: number;
  /** Uniform in [0, 1), another one than that which chose the delay: rounds it to the grain. */
  readonly draw: number;
}

/**
 * Where and how `decision` is carried out. Retries and releases become a hold, where giving the delivery back would break its
 * order or cost more than waiting for it; else they are cut to what the broker can do. What is not a wait is left as it is.
 */
export function place(decision: Decision, terms: Terms): Decision {
  switch (decision.verb) {
    case 'retry':
      return placeRetry(decision.delayMs, terms);
    case 'release':
      return placeRelease(decision.delayMs, terms);
    case 'ack':
    case 'hold':
    case 'quarantine':
      return decision;
  }
}

/**
 * The same where nothing can be kept here, as when the consumer stops. Where a wait elsewhere would break the order there is none,
 * and no charge; the delivery is its owner's next one at once.
 */
export function placeElsewhere(decision: Decision, terms: Terms): Decision {
  if (decision.verb !== 'retry' && decision.verb !== 'release') return decision;
  if (holdsForOrder(terms)) return { verb: 'release', delayMs: 0 };
  return { verb: decision.verb, ...stage(decision.delayMs, terms) };
}

/**
 * A delivery that came before its due time, since its broker could wait only part of it: it waits on, here or there, uncharged.
 * `undefined` when it is due.
 */
export function due(notBefore: number | undefined, terms: Terms): Decision | undefined {
  if (notBefore === undefined || !(notBefore > terms.now)) return undefined;
  const restMs = notBefore - terms.now;
  if (holdsForOrder(terms)) return holdInOrder(restMs, terms, false);
  if (canHold(restMs, terms)) return { verb: 'hold', delayMs: restMs, charged: false };
  return { verb: 'release', ...stage(restMs, terms) };
}

function placeRetry(delayMs: number, terms: Terms): Decision {
  if (holdsForOrder(terms)) return holdInOrder(delayMs, terms, true);
  if (terms.failures === 'copy' && canHold(delayMs, terms)) return { verb: 'hold', delayMs, charged: true };
  return { verb: 'retry', ...stage(delayMs, terms) };
}

function placeRelease(delayMs: number, terms: Terms): Decision {
  if (holdsForOrder(terms)) return holdInOrder(delayMs, terms, false);
  if (terms.release !== 'free' && canHold(delayMs, terms)) return { verb: 'hold', delayMs, charged: false };
  return { verb: 'release', ...stage(delayMs, terms) };
}

/** Tables never hold: what they take back is as cheap, durable and in order. */
function canHold(delayMs: number, terms: Terms): boolean {
  return terms.failures !== 'row' && terms.holdRoom && delayMs <= Math.min(HOLD_AT_MOST_MS, terms.leaseLeftMs);
}

/** Successors of its key would pass a delivery that is given back. */
function holdsForOrder(terms: Terms): boolean {
  return terms.ordering === 'key' && !terms.retryKeepsOrder && terms.failures !== 'row';
}

/**
 * The order was promised, the length of a wait was not: the end of the lease shortens it, and a lack of room is no way out. With no
 * time left it goes back to where it was, uncharged.
 */
function holdInOrder(delayMs: number, terms: Terms, charged: boolean): Decision {
  if (terms.leaseLeftMs <= 0) return { verb: 'release', delayMs: 0 };
  return { verb: 'hold', delayMs: Math.min(delayMs, terms.leaseLeftMs), charged };
}

/** Of a longer wait the longest stage that the broker can do, with the due time of the whole. */
function stage(delayMs: number, terms: Terms): Wait {
  const limitMs = longestStage(terms);
  if (delayMs > limitMs) return { delayMs: limitMs, notBefore: terms.now + delayMs };
  return { delayMs: roundToGrain(delayMs, terms) };
}

export interface Wait {
  readonly delayMs: number;
  /** Epoch milliseconds of the whole, where `delayMs` is a stage of it. */
  readonly notBefore?: number;
}

/** A wait that is said later than it was placed: as much of it as the broker can still do. */
export function stagedAgain<W extends Wait>(wait: W, terms: StageTerms): W {
  const limitMs = longestStage(terms);
  if (wait.delayMs <= limitMs) return wait;
  return { ...wait, delayMs: limitMs, notBefore: wait.notBefore ?? terms.now + wait.delayMs };
}

type StageTerms = Pick<Terms, 'maxDelayMs' | 'delayCapAt' | 'delayGrainMs' | 'now'>;

/** Short of what a delivery has left, since it is on its way for a while before the broker hears it. */
function longestStage({ maxDelayMs, delayCapAt, delayGrainMs, now }: StageTerms): number {
  const leftMs = delayCapAt === undefined ? Number.POSITIVE_INFINITY : delayCapAt - now;
  const limitMs = Math.min(maxDelayMs, leftMs - Math.min(leftMs * UNDERWAY_SHARE, LONGEST_UNDERWAY_MS));
  return Number.isFinite(limitMs) ? Math.max(0, Math.floor(limitMs / delayGrainMs) * delayGrainMs) : limitMs;
}

/**
 * Up or down at random, in proportion, so that waits of a coarse broker are still spread and as long on average; a wait that is
 * not 0 lasts at least one grain.
 */
function roundToGrain(delayMs: number, { delayGrainMs, draw }: Terms): number {
  const grains = Math.floor(delayMs / delayGrainMs);
  const part = delayMs / delayGrainMs - grains;
  const rounded = draw < part ? grains + 1 : grains;
  return delayMs > 0 ? Math.max(1, rounded) * delayGrainMs : 0;
}
