import { wholeStart } from '../clip.ts';
import type { Rate } from '../duration.ts';
import { isArray, peek } from '../peek.ts';
import type { Command } from './gate.ts';

/** What a person wants of a queue until `untilAt`, whatever its processes find by themselves. Times are epoch milliseconds. */
export interface StandingOrder {
  readonly want: Want;
  readonly at: number;
  readonly untilAt: number;
  readonly why: string;
  readonly by: string;
}

export type Want =
  | { readonly set: 'paused' }
  /** Whatever paused it. */
  | { readonly set: 'resumed' }
  | { readonly set: 'breaker'; readonly dependency?: string; readonly to: 'open' | 'half-open' | 'closed' }
  | { readonly set: 'limit'; readonly dependency?: string; readonly limit: number }
  | { readonly set: 'rate'; readonly rate: Rate }
  | { readonly set: 'forgiven'; readonly fingerprint: string };

/** What is done at once, by each process that hears of it in this time. */
export const MOMENT_MS = 60_000;
export const LONGEST_ORDER_MS: number = 7 * 24 * 3_600_000;
export const ORDERS_TTL_MS: number = LONGEST_ORDER_MS + 3_600_000;
/** Of a queue; beyond it the one that ends first makes way. */
const MOST = 64;
const LONGEST_TEXT = 500;

export function ordersKey(queue: string): string {
  return `orders ${queue}`;
}

/** Orders of one slot take each other's place. */
export function slotOf(want: Want): string {
  switch (want.set) {
    case 'breaker':
    case 'limit':
      return `${want.set} ${want.dependency ?? ''}`;
    case 'forgiven':
      return `forgiven ${want.fingerprint}`;
    case 'resumed':
      return 'paused';
    case 'paused':
    case 'rate':
      return want.set;
  }
}

/** With `order`, and without what it takes the place of and what is over. */
export function ordered(orders: readonly StandingOrder[], order: StandingOrder, now: number): readonly StandingOrder[] {
  const others = lifted(orders, slotOf(order.want), now).toSorted((a, b) => b.untilAt - a.untilAt);
  return [...others.slice(0, MOST - 1), order];
}

/** Without the order of `slot`, and without what is over. */
export function lifted(orders: readonly StandingOrder[], slot: string, now: number): readonly StandingOrder[] {
  return orders.filter((order) => order.untilAt > now && slotOf(order.want) !== slot);
}

/** What a gate that follows `before` is told to follow `after`. `why` and by whom go along. */
export function commandsBetween(
  before: readonly StandingOrder[],
  after: readonly StandingOrder[],
  now: number,
): readonly Command[] {
  const told = new Map(before.map((order) => [slotOf(order.want), order]));
  const wanted = after.filter(({ untilAt }) => untilAt > now);
  const slots = new Set(wanted.map((order) => slotOf(order.want)));
  const ended = before.filter((order) => order.untilAt > now && !slots.has(slotOf(order.want)));
  const fresh = wanted.filter((order) => {
    const known = told.get(slotOf(order.want));
    return known === undefined || JSON.stringify(known) !== JSON.stringify(order);
  });
  return [
    ...ended.map((order) => commandOf({ ...order, why: 'the order was lifted' }, 0)),
    ...fresh.map((order) => commandOf(order, order.untilAt - now)),
  ].filter((command) => command !== undefined);
}

/** `undefined` where there is nothing to lift. */
function commandOf({ want, why, by }: StandingOrder, forMs: number): Command | undefined {
  const reason = `${why} (${by})`;
  if (want.set === 'forgiven') return forMs === 0 ? undefined : { ...want, why: reason };
  if (want.set === 'resumed') return forMs === 0 ? undefined : { set: 'paused', forMs: 0, why: reason };
  return { ...want, forMs, why: reason };
}

export function writeOrders(orders: readonly StandingOrder[]): string | null {
  return orders.length === 0 ? null : JSON.stringify(orders);
}

/** What `writeOrders` wrote. Of anything else only what is an order; nothing where it is none. */
export function readOrders(text: string | null): readonly StandingOrder[] {
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return isArray(value) ? (value as unknown[]).slice(0, MOST).flatMap(readOrder) : [];
  } catch {
    return [];
  }
}

function readOrder(value: unknown): readonly StandingOrder[] {
  const want = readWant(peek(value, 'want'));
  const at = numberIn(value, 'at');
  const untilAt = numberIn(value, 'untilAt');
  if (want === undefined || at === undefined || untilAt === undefined || untilAt - at > LONGEST_ORDER_MS) return [];
  return [{ want, at, untilAt, why: textIn(value, 'why') ?? '', by: textIn(value, 'by') ?? '' }];
}

function readWant(value: unknown): Want | undefined {
  const dependency = textIn(value, 'dependency');
  const named = dependency === undefined ? {} : { dependency };
  switch (peek(value, 'set')) {
    case 'paused':
      return { set: 'paused' };
    case 'resumed':
      return { set: 'resumed' };
    case 'breaker': {
      const to = peek(value, 'to');
      return to === 'open' || to === 'half-open' || to === 'closed' ? { set: 'breaker', to, ...named } : undefined;
    }
    case 'limit': {
      const limit = numberIn(value, 'limit');
      return limit !== undefined && limit >= 1 ? { set: 'limit', limit, ...named } : undefined;
    }
    case 'rate': {
      const rate = peek(value, 'rate');
      const [count, perMs] = [numberIn(rate, 'count'), numberIn(rate, 'perMs')];
      if (count === undefined || perMs === undefined || count < 1 || perMs < 1) return undefined;
      return { set: 'rate', rate: { count, perMs } };
    }
    case 'forgiven': {
      const fingerprint = textIn(value, 'fingerprint');
      return fingerprint === undefined ? undefined : { set: 'forgiven', fingerprint };
    }
    default:
      return undefined;
  }
}

function textIn(value: unknown, name: string): string | undefined {
  const text = peek(value, name);
  return typeof text === 'string' ? wholeStart(text, LONGEST_TEXT) : undefined;
}

/** Whole, as all of them are. */
function numberIn(value: unknown, name: string): number | undefined {
  const number = peek(value, name);
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}
