import { formatDuration, type Rate } from './duration.ts';
import type { ConsumerPolicy } from './policy.ts';

/** For whom limits hold: where the broker is a store itself for all processes together, else for each. Not known before it is reached. */
export type LimitReach = 'together' | 'each' | 'unknown';

/** What a consumer's options limit, and for whom; `undefined` where only its own concurrency does. */
export function limitsSentence(
  { concurrency, globalConcurrency, storm: { rate } }: ConsumerPolicy,
  reach: LimitReach,
): string | undefined {
  if (globalConcurrency === undefined && rate === undefined) return undefined;
  const limits = [`${concurrency} at once in each process`];
  if (globalConcurrency !== undefined) limits.push(`${globalConcurrency} at once in all of them together`);
  if (rate !== undefined) limits.push(`${rateText(rate)} ${WHOSE[reach]}`);
  return `limits: ${limits.join(' · ')}`;
}

const WHOSE: Readonly<Record<LimitReach, string>> = {
  together: 'in all of them together',
  each: 'in each of them (this broker shares nothing between them)',
  unknown: 'in all of them together where the broker is a store itself, else in each',
};

function rateText({ count, perMs }: Rate): string {
  return `${count} starts per ${formatDuration(perMs)}`;
}
