import { age } from '../age.ts';
import { type Cell, UNKNOWN } from '../view.ts';

/** How long ago for people, the time itself for programs; a hyphen where there is none. `at` is ISO 8601. */
export function ageCell(at: string | undefined, now: number): Cell {
  return at === undefined ? { people: '-', exact: '' } : { people: age(Date.parse(at), now), exact: at };
}

export function countCell(count: number | undefined, approximate: boolean): Cell {
  if (count === undefined) return UNKNOWN;
  return approximate ? { people: `~${count}`, exact: String(count) } : count;
}
