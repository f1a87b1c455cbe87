import { LazaretError } from './errors.ts';

/** Due times are plain numbers in a column; ten years is where a wait is rather a mistake. */
export const MAX_TABLE_DELAY_MS: number = 3650 * 24 * 3600 * 1000;

/** In whole milliseconds, never early. Throws LZ1003 for a delay that is none, or longer than a table keeps. */
export function checkDelay(delayMs: number): number {
  if (Number.isFinite(delayMs) && delayMs >= 0 && delayMs <= MAX_TABLE_DELAY_MS) return Math.ceil(delayMs);
  throw new LazaretError('LZ1003', `A delay of ${String(delayMs).slice(0, 40)} ms is out of range.`, {
    hint: `It lies between 0 and ${MAX_TABLE_DELAY_MS} ms.`,
  });
}
