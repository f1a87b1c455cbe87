import { wholeStart } from '../clip.ts';
import { peek, peekItems } from '../peek.ts';
import type { BreakerStanding } from './breaker.ts';

/** What one process found out about a dependency, for all processes of the queue. Times are epoch milliseconds. */
export interface SharedBreaker {
  /** Absent for the queue's own scope. */
  readonly dependency?: string;
  /** ramping: a probe was healthy. */
  readonly state: 'open' | 'ramping';
  /** Since then. */
  readonly at: number;
  /** Open until then; then one process probes. */
  readonly untilAt: number;
  /** In a row, so that the time doubles whoever probes. */
  readonly openings: number;
  readonly why: string;
  readonly by: string;
  /** Who may probe, and until when nobody else. */
  readonly probe?: { readonly by: string; readonly untilAt: number };
}

/** How one process's own breaker stands, in epoch milliseconds. One that is pinned neither teaches nor learns. */
export interface OwnBreaker extends BreakerStanding {
  readonly dependency: string | undefined;
}

/** What its process does when the record stands in the store. */
export type Lesson =
  | { readonly learn: 'nothing' }
  /** Stays closed to all until `untilAt`, as the other one's. */
  | { readonly learn: 'open'; readonly record: SharedBreaker }
  /** Another one's probe was healthy. */
  | { readonly learn: 'ramp'; readonly record: SharedBreaker }
  /** It alone probes. */
  | { readonly learn: 'probe'; readonly untilAt: number };

export interface Meeting {
  /** `undefined`: none is needed. */
  readonly record: SharedBreaker | undefined;
  readonly lesson: Lesson;
}

/** A record that nobody renewed for so long after its time says nothing any more. */
const FORGOTTEN_MS = 30_000;
/** So long a healthy probe is told. */
const RAMP_TOLD_MS = 20_000;
/** Times that differ by less are the same: they went through two clocks. */
const SAME_MS = 50;
const MOST_RECORDS = 32;
const LONGEST_TEXT = 500;
const NOTHING: Lesson = { learn: 'nothing' };

export const SHARED_BREAKERS_TTL_MS = 600_000;

export function sharedBreakersKey(queue: string): string {
  return `breakers ${queue}`;
}

/** What `me` teaches and learns. `probeMs`: how long a probe has until another process may. */
export function meetBreaker(
  found: SharedBreaker | undefined,
  own: OwnBreaker,
  me: string,
  probeMs: number,
  now: number,
): Meeting {
  const shared = found !== undefined && now < found.untilAt + FORGOTTEN_MS ? found : undefined;
  // What a person closed must not be opened again by what was found out before.
  if (own.pinned) return { record: own.state === 'closed' ? undefined : shared, lesson: NOTHING };
  switch (own.state) {
    case 'closed':
      return whileClosed(shared, own, me);
    case 'open':
      return whileOpen(shared, own, me);
    case 'half-open':
      return whileHalfOpen(shared, own, me, probeMs, now);
    case 'ramping':
      return whileRamping(shared, own, me);
  }
}

function whileClosed(shared: SharedBreaker | undefined, own: OwnBreaker, me: string): Meeting {
  if (shared === undefined || shared.state === 'ramping') return { record: shared, lesson: NOTHING };
  // Its own probe was healthy, and its ramp is over already.
  if (shared.probe?.by === me && own.sinceAt > shared.at) return { record: healthy(own, me), lesson: NOTHING };
  return learn(shared);
}

function whileOpen(shared: SharedBreaker | undefined, own: OwnBreaker, me: string): Meeting {
  if (shared?.state === 'ramping' && shared.at > own.openedAt)
    return { record: shared, lesson: { learn: 'ramp', record: shared } };
  if (shared?.state !== 'open' || own.untilAt > shared.untilAt + SAME_MS)
    return { record: opened(own, me), lesson: NOTHING };
  return shared.untilAt > own.untilAt + SAME_MS ? learn(shared) : { record: shared, lesson: NOTHING };
}

function whileHalfOpen(
  shared: SharedBreaker | undefined,
  own: OwnBreaker,
  me: string,
  probeMs: number,
  now: number,
): Meeting {
  if (shared?.state === 'ramping' && shared.at > own.openedAt)
    return { record: shared, lesson: { learn: 'ramp', record: shared } };
  if (shared?.state === 'open' && shared.untilAt > now) return learn(shared);
  const { probe } = shared ?? {};
  if (probe !== undefined && probe.untilAt > now) {
    const lesson: Lesson = probe.by === me ? { learn: 'probe', untilAt: probe.untilAt } : NOTHING;
    return { record: shared, lesson };
  }
  const untilAt = now + probeMs;
  const base = shared?.state === 'open' ? shared : { ...opened(own, me), untilAt: now };
  return { record: { ...base, untilAt: now, probe: { by: me, untilAt } }, lesson: { learn: 'probe', untilAt } };
}

function whileRamping(shared: SharedBreaker | undefined, own: OwnBreaker, me: string): Meeting {
  if (shared?.state !== 'open') return { record: shared, lesson: NOTHING };
  return shared.at > own.sinceAt ? learn(shared) : { record: healthy(own, me), lesson: NOTHING };
}

function learn(shared: SharedBreaker): Meeting {
  return { record: shared, lesson: { learn: 'open', record: shared } };
}

function opened(own: OwnBreaker, by: string): SharedBreaker {
  const { openings, openedAt, untilAt } = own;
  return { ...named(own), state: 'open', at: openedAt, untilAt, openings, why: wholeStart(own.why, LONGEST_TEXT), by };
}

function healthy(own: OwnBreaker, by: string): SharedBreaker {
  const at = own.sinceAt;
  const why = 'the probe was healthy';
  return { ...named(own), state: 'ramping', at, untilAt: at + RAMP_TOLD_MS, openings: 0, why, by };
}

function named({ dependency }: OwnBreaker): { readonly dependency?: string } {
  return dependency === undefined ? {} : { dependency };
}

/** `records` with what `record` says of `dependency`. */
export function withRecord(
  records: readonly SharedBreaker[],
  dependency: string | undefined,
  record: SharedBreaker | undefined,
): readonly SharedBreaker[] {
  const others = records.filter((other) => other.dependency !== dependency);
  return record === undefined ? others : [...others.slice(1 - MOST_RECORDS), record];
}

export function writeSharedBreakers(records: readonly SharedBreaker[]): string | null {
  return records.length === 0 ? null : JSON.stringify(records);
}

/** What `writeSharedBreakers` wrote; of anything else what fits. */
export function readSharedBreakers(text: string | null): readonly SharedBreaker[] {
  try {
    return text === null ? [] : peekItems(JSON.parse(text), MOST_RECORDS).filter(isRecord);
  } catch {
    return [];
  }
}

function isRecord(value: unknown): value is SharedBreaker {
  const [dependency, state, probe] = [peek(value, 'dependency'), peek(value, 'state'), peek(value, 'probe')];
  return (
    (dependency === undefined || isText(dependency)) &&
    (state === 'open' || state === 'ramping') &&
    ['at', 'untilAt', 'openings'].every((name) => Number.isFinite(peek(value, name))) &&
    isText(peek(value, 'why')) &&
    isText(peek(value, 'by')) &&
    (probe === undefined || (isText(peek(probe, 'by')) && Number.isFinite(peek(probe, 'untilAt'))))
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
