import { formatDuration } from 'lazaret/core';
import type { Plan } from './plan.ts';
import { SAYS } from './plan.ts';
import type { Summary } from './summary.ts';

const NUMBERS = new Intl.NumberFormat('en-US');

export function counted(count: number): string {
  return NUMBERS.format(count);
}

/** What was simulated. */
export function premise(
  { scenario, troubleMs, perSecond, instances }: Plan,
  concurrency: number,
  capacity: number,
): string {
  return (
    `${formatDuration(troubleMs)} of trouble (${SAYS[scenario]}) at ${perSecond} messages/s, before a dependency that answers ` +
    `${capacity} calls/s; ${instances} processes × ${concurrency} handlers.`
  );
}

/** The one sentence that somebody reads at 3 a.m. about one arm. */
export function headline({ arm, quarantined, recoveredAfterMs, drainedAfterMs }: Summary): string {
  const who = arm === 'yours' ? 'Your policy' : arm === 'lazaret' ? "Lazaret's defaults" : `'${arm}'`;
  const verb = arm === 'lazaret' ? 'put' : 'puts';
  const letters =
    quarantined === 0
      ? `${verb} no healthy message into the quarantine`
      : `${verb} ${counted(quarantined)} healthy messages into the quarantine`;
  return `${who} ${letters}; ${recovery(arm, recoveredAfterMs, drainedAfterMs)}.`;
}

function recovery(arm: string, recoveredAfterMs: number | null, drainedAfterMs: number | null): string {
  const it = arm === 'lazaret' ? 'they' : 'it';
  if (drainedAfterMs !== null) return `${it} caught up ${formatDuration(drainedAfterMs)} after the trouble`;
  if (recoveredAfterMs === null) return `${it} never recovered before the end of the simulation`;
  return `${it} had not caught up by the end of the simulation`;
}
