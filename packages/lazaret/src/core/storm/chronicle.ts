import { wholeStart } from '../clip.ts';
import { isArray, peek, peekItems } from '../peek.ts';
import type { BreakerState } from './breaker.ts';
import { BY_HAND, type StormChange } from './changes.ts';
import type { GateView } from './view.ts';

/** What the processes of a queue say of it, for people: how each of them stands, and what happened lately. */
export interface Chronicle {
  readonly processes: readonly Standing[];
  /** The newest last. */
  readonly history: readonly Entry[];
}

/** Times are epoch milliseconds. */
export interface Standing {
  readonly process: string;
  readonly at: number;
  readonly view: GateView;
}

export interface Entry {
  readonly at: number;
  readonly process: string;
  /** 'breaker open', 'paused', 'fused', … */
  readonly what: string;
  /** The dependency or fingerprint. */
  readonly about?: string;
  readonly why: string;
  readonly forMs?: number;
  /** A person set it. */
  readonly byHand: boolean;
}

/** A process that has said nothing for so long is gone, or has stopped consuming. */
export const SILENT_MS = 15_000;
export const CHRONICLE_TTL_MS: number = 24 * 3_600_000;
export const MOST_ENTRIES = 50;
/** Every process follows an order within this time; it is one entry. */
const SAME_ORDER_MS = 10_000;
const MOST_PROCESSES = 32;
const LONGEST_TEXT = 500;

export function chronicleKey(queue: string): string {
  return `storm ${queue}`;
}

/** With what one process has to say now. `view` is absent for one that stops. */
export function told(
  { processes, history }: Chronicle,
  process: string,
  view: GateView | undefined,
  entries: readonly Entry[],
  now: number,
): Chronicle {
  const others = processes.filter((one) => one.process !== process && now - one.at < SILENT_MS);
  const own = view === undefined ? [] : [{ process, at: now, view }];
  const news = entries.filter((entry) => !history.some((known) => isSameOrder(known, entry)));
  return {
    processes: [...others.slice(-(MOST_PROCESSES - 1)), ...own],
    history: [...history, ...news].slice(-MOST_ENTRIES),
  };
}

function isSameOrder(known: Entry, { byHand, at, process, what, about, why }: Entry): boolean {
  if (!byHand || known.process === process || Math.abs(at - known.at) > SAME_ORDER_MS) return false;
  return known.what === what && known.about === about && known.why === why;
}

export function entryOf(change: StormChange, process: string, now: number): Entry {
  const about = 'fingerprint' in change ? change.fingerprint : 'dependency' in change ? change.dependency : undefined;
  return {
    at: now,
    process,
    what: change.what === 'breaker' ? `breaker ${change.state}` : change.what,
    ...(about === undefined ? {} : { about: wholeStart(about, LONGEST_TEXT) }),
    why: wholeStart(change.why, LONGEST_TEXT),
    byHand: change.why.startsWith(BY_HAND),
    ...('forMs' in change && change.forMs !== undefined ? { forMs: change.forMs } : {}),
  };
}

export function writeChronicle(chronicle: Chronicle): string {
  return JSON.stringify(chronicle);
}

/** What `writeChronicle` wrote; of anything else what fits. */
export function readChronicle(text: string | null): Chronicle {
  let value: unknown;
  try {
    value = text === null ? undefined : JSON.parse(text);
  } catch {
    value = undefined;
  }
  return {
    processes: peekItems(peek(value, 'processes'), MOST_PROCESSES).filter(isStanding),
    history: peekItems(peek(value, 'history'), MOST_ENTRIES).filter(isEntry),
  };
}

function isStanding(value: unknown): value is Standing {
  const view = peek(value, 'view');
  const isView =
    isNumber(peek(view, 'inFlight')) &&
    isBreaker(peek(view, 'pause')) &&
    isArray(peek(view, 'scopes')) &&
    isTexts(peek(view, 'fused')) &&
    isTexts(peek(view, 'systemic'));
  return (
    isView &&
    isMaybeText(peek(peek(view, 'pause'), 'fingerprint')) &&
    isText(peek(value, 'process')) &&
    isNumber(peek(value, 'at')) &&
    (peek(view, 'scopes') as unknown[]).every(isScope)
  );
}

function isScope(value: unknown): boolean {
  if (!isMaybeText(peek(value, 'dependency'))) return false;
  return isBreaker(peek(value, 'breaker')) && isNumber(peek(value, 'limit')) && isNumber(peek(value, 'inFlight'));
}

function isBreaker(value: unknown): boolean {
  return STATES.has(peek(value, 'state')) && isText(peek(value, 'why')) && isNumber(peek(value, 'pinnedForMs'));
}

function isEntry(value: unknown): value is Entry {
  return (
    isNumber(peek(value, 'at')) &&
    isText(peek(value, 'what')) &&
    isText(peek(value, 'why')) &&
    isText(peek(value, 'process')) &&
    isMaybeText(peek(value, 'about')) &&
    (peek(value, 'forMs') === undefined || isNumber(peek(value, 'forMs'))) &&
    typeof peek(value, 'byHand') === 'boolean'
  );
}

const STATES: ReadonlySet<unknown> = new Set<BreakerState>(['closed', 'open', 'half-open', 'ramping']);

function isMaybeText(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isTexts(value: unknown): boolean {
  return isArray(value) && (value as unknown[]).every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
