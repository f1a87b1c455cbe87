import { peek, peekItems } from '../peek.ts';
import { fairPieces } from './fair-share.ts';

/** Who holds how many of a queue's slots: handlers that run at once, over all processes. Times are epoch milliseconds. */
export type SlotPool = readonly Holder[];

interface Holder {
  readonly by: string;
  readonly slots: number;
  readonly want: number;
  /** Then others may have them. */
  readonly untilAt: number;
}

export interface SlotAsk {
  readonly by: string;
  /** Taken right now; they are given back only when they are free. */
  readonly used: number;
  /** As many as it could use; with 0 it leaves. */
  readonly want: number;
}

export interface SlotLease {
  readonly pool: SlotPool;
  /** As many may run. What runs beyond it ends, and nothing takes its place. */
  readonly slots: number;
  /** Its share is larger, but others still hold it: they give it back when they ask. */
  readonly owed: boolean;
}

/** For so long slots are borrowed at a time; the borrower asks again in half of it. */
export const SLOT_SLICE_MS = 2_000;
/** So long others wait for one that does not ask again, and … */
const LEASE_MS: number = 2 * SLOT_SLICE_MS;
/** … so long it counts on what it has, by its own clock: the clocks of two processes may differ by the rest. */
export const SLOTS_COUNT_MS: number = 1.5 * SLOT_SLICE_MS;
const MOST_HOLDERS = 256;

export function slotPoolKey(queue: string): string {
  return `slots ${queue}`;
}

export const SLOT_POOL_TTL_MS = 60_000;

/**
 * One process's slots for the next slice: its fair share of what all want, but never what others still hold. Where there are
 * fewer slots than processes, they go round. What all hold together never exceeds `limit`.
 */
export function leaseSlots(pool: SlotPool, ask: SlotAsk, limit: number, now: number): SlotLease {
  const others = pool.filter(({ by, untilAt }) => by !== ask.by && untilAt > now).slice(0, MOST_HOLDERS - 1);
  if (ask.want === 0 && ask.used === 0) return { pool: others, slots: 0, owed: false };
  const held = others.reduce((sum, { slots }) => sum + slots, 0);
  const fair = fairShareOf(ask, others, limit, now);
  const slots = Math.min(Math.max(ask.used, fair), Math.max(0, limit - held));
  const own = { by: ask.by, slots, want: ask.want, untilAt: now + LEASE_MS };
  return { pool: [...others, own], slots: Math.min(fair, slots), owed: slots < fair };
}

/** Milliseconds until shares that go round change hands. */
export function nextTurnMs(now: number): number {
  return SLOT_SLICE_MS - (now % SLOT_SLICE_MS);
}

/** All reckon alike: by name, and whose turn it is by the clock. */
function fairShareOf({ by, want }: SlotAsk, others: SlotPool, limit: number, now: number): number {
  const all = [...others, { by, want }].sort((a, b) => (a.by < b.by ? -1 : 1));
  const wants = all.map((one) => one.want);
  return fairPieces(limit, wants, Math.floor(now / SLOT_SLICE_MS))[all.findIndex((one) => one.by === by)]!;
}

export function writeSlotPool(pool: SlotPool): string | null {
  return pool.length === 0 ? null : JSON.stringify(pool);
}

/** What `writeSlotPool` wrote; of anything else what fits. */
export function readSlotPool(text: string | null): SlotPool {
  try {
    return text === null ? [] : peekItems(JSON.parse(text), MOST_HOLDERS).filter(isHolder);
  } catch {
    return [];
  }
}

function isHolder(value: unknown): value is Holder {
  return (
    typeof peek(value, 'by') === 'string' &&
    isCount(peek(value, 'slots')) &&
    isCount(peek(value, 'want')) &&
    Number.isFinite(peek(value, 'untilAt'))
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
