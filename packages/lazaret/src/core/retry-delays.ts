import { delayWindow, steadyFrom } from './backoff.ts';
import { HOLD_AT_MOST_MS } from './placement.ts';
import type { Policy } from './policy.ts';

/** Neighbouring tiers of one window are at most so many times apart. */
const STEP = 2;

/**
 * The waits that a broker with retry tiers has to know beforehand, in whole milliseconds, ascending: of each wait that can be longer
 * than what is held, the shortest, the middle and the longest, and more of them where jitter spreads it wider. What is drawn between
 * two of them is rounded to one.
 */
export function retryDelays({
  backoff,
  jitter,
  maxAttempts,
}: Pick<Policy, 'backoff' | 'jitter' | 'maxAttempts'>): readonly number[] {
  const delays = new Set<number>();
  const last = Math.min(maxAttempts - 1, steadyFrom(backoff, jitter));
  for (let attempt = 1; attempt <= last; attempt++) {
    const { floorMs, ceilingMs } = delayWindow(backoff, jitter, attempt);
    for (const delayMs of stepsOf(Math.max(floorMs, HOLD_AT_MOST_MS), ceilingMs)) {
      if (delayMs > HOLD_AT_MOST_MS) delays.add(delayMs);
    }
  }
  return [...delays].sort((a, b) => a - b);
}

function stepsOf(lowMs: number, highMs: number): readonly number[] {
  if (highMs <= lowMs) return [highMs];
  const ratio = highMs / lowMs;
  if (ratio <= STEP * STEP) return [lowMs, Math.round((lowMs + highMs) / 2), highMs];
  const steps = Math.ceil(Math.log(ratio) / Math.log(STEP));
  return Array.from({ length: steps + 1 }, (_, i) => Math.round(lowMs * ratio ** (i / steps)));
}
