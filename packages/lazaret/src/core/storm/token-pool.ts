import type { Rate } from '../duration.ts';
import { peek, peekItems } from '../peek.ts';
import { fairLevel } from './fair-share.ts';

/** The tokens of one queue's rate, as the processes of the queue share them. Times are epoch milliseconds. */
export interface TokenPool {
  readonly tokens: number;
  /** Tokens have come in until then. */
  readonly at: number;
  readonly borrowers: readonly Borrower[];
}

interface Borrower {
  readonly by: string;
  /** Tokens in one slice. */
  readonly want: number;
  readonly at: number;
}

export interface TokenAsk {
  readonly by: string;
  /** What it could use in one slice; 0 takes its name off. */
  readonly want: number;
  /** What it still has. What is more than it wants goes back. */
  readonly have: number;
}

export interface TokenLoan {
  readonly pool: TokenPool;
  /** Below 0: so many went back. */
  readonly granted: number;
}

/** For so long tokens are borrowed at a time. */
export const TOKEN_SLICE_MS = 250;
/** Who has not asked for so long does not count any more. */
const SILENT_MS: number = 4 * TOKEN_SLICE_MS;
/** A clock that ran further ahead than this was wrong, or is gone. */
const AHEAD_MS = 10_000;
const MOST_BORROWERS = 256;

export function tokenPoolKey(queue: string): string {
  return `rate ${queue}`;
}

/**
 * One slice's tokens for one process. Whoever asks, when and how often: what all of them got never exceeds the burst (a slice's worth,
 * at least one) and the rate since the pool began. A process that dies takes what it has borrowed with it.
 */
export function lendTokens(before: TokenPool | undefined, ask: TokenAsk, rate: Rate, now: number): TokenLoan {
  const perSlice = (rate.count * TOKEN_SLICE_MS) / rate.perMs;
  const pool = refilled(before ?? fullPool(rate, now), rate, now);
  const tokens = Math.min(burstOf(rate), pool.tokens + Math.max(0, ask.have - ask.want));
  const others = pool.borrowers.filter(({ by, at }) => by !== ask.by && now - at < SILENT_MS);
  const level = fairLevel(Math.max(perSlice, tokens), [ask.want, ...others.map(({ want }) => want)]);
  const granted = Math.min(tokens, level, Math.max(0, ask.want - ask.have));
  const own = ask.want > 0 ? [{ by: ask.by, want: ask.want, at: now }] : [];
  return {
    pool: { tokens: tokens - granted, at: pool.at, borrowers: [...others.slice(1 - MOST_BORROWERS), ...own] },
    granted: granted - Math.max(0, ask.have - ask.want),
  };
}

/** How long a pool is remembered: when it is forgotten, it must be full again. */
export function tokenPoolTtlMs(rate: Rate): number {
  return Math.max(60_000, Math.ceil((2 * burstOf(rate) * rate.perMs) / rate.count));
}

/** The most that one process can use in a slice. */
export function burstOf({ count, perMs }: Rate): number {
  return Math.max(1, (count * TOKEN_SLICE_MS) / perMs);
}

function fullPool(rate: Rate, now: number): TokenPool {
  return { tokens: burstOf(rate), at: now, borrowers: [] };
}

/** A process whose clock is behind brings nothing in: somebody else has done so already. */
function refilled(pool: TokenPool, rate: Rate, now: number): TokenPool {
  if (pool.at - now > AHEAD_MS) return { ...pool, tokens: 0, at: now };
  const passedMs = Math.max(0, now - pool.at);
  const tokens = Math.min(burstOf(rate), pool.tokens + (passedMs * rate.count) / rate.perMs);
  return { ...pool, tokens, at: pool.at + passedMs };
}

export function writeTokenPool(pool: TokenPool): string {
  return JSON.stringify(pool);
}

/** What `writeTokenPool` wrote; `undefined` for anything else. */
export function readTokenPool(text: string | null): TokenPool | undefined {
  let value: unknown;
  try {
    value = text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
  const [tokens, at] = [peek(value, 'tokens'), peek(value, 'at')];
  if (!isAmount(tokens) || !isAmount(at)) return undefined;
  return { tokens, at, borrowers: peekItems(peek(value, 'borrowers'), MOST_BORROWERS).filter(isBorrower) };
}

function isBorrower(value: unknown): value is Borrower {
  return typeof peek(value, 'by') === 'string' && isAmount(peek(value, 'want')) && isAmount(peek(value, 'at'));
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
