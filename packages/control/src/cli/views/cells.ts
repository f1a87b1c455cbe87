import type { QueueState } from '../../operations/queue-state.ts';
import { age, lasting } from '../age.ts';
import { type Cell, UNKNOWN } from '../view.ts';

/** How long ago for people, the time itself for programs; a hyphen where there is none. `at` is ISO 8601. */
export function ageCell(at: string | undefined, now: number): Cell {
  return at === undefined ? { people: '-', exact: '' } : { people: age(Date.parse(at), now), exact: at };
}

export function countCell(count: number | undefined, approximate: boolean): Cell {
  if (count === undefined) return UNKNOWN;
  return approximate ? { people: `~${count}`, exact: String(count) } : count;
}

/** How long until then for people, the time itself for programs. */
export function leftCell(until: string | undefined, now: number): Cell {
  return until === undefined ? NONE : { people: wholeSeconds(Date.parse(until) - now), exact: until };
}

/** What was set for half an hour a moment ago is half an hour. */
export function wholeSeconds(ms: number): string {
  return lasting(Math.ceil(ms / 1_000) * 1_000);
}

/** A hyphen where nobody consumes the queue. */
export function stateCell(state: QueueState | undefined): Cell {
  if (state === undefined) return NONE;
  return { people: state === 'running' || state === 'paused' ? state : `breaker ${state}`, exact: state };
}

/** For what is not there. */
export function maybeCell(text: string | number | undefined): Cell {
  return text === undefined || text === '' ? NONE : text;
}

const NONE: Cell = { people: '-', exact: '' };
