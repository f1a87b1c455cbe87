import type { Verb } from './faults.ts';

/** How often the server was asked, and for how many messages in all. Kills and faults count as well. */
export type Stats = Readonly<Record<Verb, Count>>;

export interface Count {
  calls: number;
  entries: number;
}

export function newStats(): Stats {
  const none = () => ({ calls: 0, entries: 0 });
  return { publish: none(), copy: none(), pull: none(), settle: none(), extend: none(), commit: none() };
}

export function count(stats: Stats, verb: Verb, entries: number): void {
  stats[verb].calls++;
  stats[verb].entries += entries;
}
