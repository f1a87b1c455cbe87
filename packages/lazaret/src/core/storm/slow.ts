import type { SlowNumbers } from './numbers.ts';

/**
 * How long a message waits that fails through no fault of its own: the longer the trouble has lasted, the longer, so that each
 * message meets it a few times and not every two seconds. `chance` is uniform in [0, 1).
 */
export function slowMs(lastedMs: number, chance: number, numbers: SlowNumbers): number {
  const { firstMs, share, longestMs, jitter } = numbers;
  const nominalMs = Math.min(Math.max(firstMs, lastedMs * share), longestMs);
  return Math.round(nominalMs * (1 - jitter + 2 * jitter * chance));
}
