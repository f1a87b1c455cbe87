import { formatDuration } from './duration.ts';
import { optionError } from './option-error.ts';
import { durationFrom, givenOptions, wholeNumber } from './option-values.ts';
import type { ConsumerPolicy } from './policy.ts';

/** How `consumeBatch` fills its batches. */
export interface BatchOptions {
  /** Messages of one batch at most; at least 1. */
  readonly size: number;
  /** How long the first message of a batch waits for the others. At least '1ms', and shorter than `timeout`. */
  readonly within: string;
}

export interface Batch {
  readonly size: number;
  readonly withinMs: number;
}

const NAMES: Readonly<Record<keyof BatchOptions, true>> = { size: true, within: true };

export const BATCH_OPTIONS: readonly string[] = Object.keys(NAMES);

/**
 * Both must be given; errors as of `consumerPolicy`. Throws LZ1004 where the deadline of a message would pass while its batch is still
 * filled.
 */
export function batchOptions(options: BatchOptions, { timeoutMs }: Pick<ConsumerPolicy, 'timeoutMs'>): Batch {
  const given = givenOptions(options, BATCH_OPTIONS, 'consumeBatch');
  const size = wholeNumber(given.get('size'), 'size', 1);
  const withinMs = durationFrom(1, given.get('within'), 'within');
  if (withinMs >= timeoutMs) {
    const what = `${formatDuration(withinMs)} is not shorter than timeout ${formatDuration(timeoutMs)}: a message would be late before its batch is called.`;
    throw optionError('LZ1004', 'within', what, "Shorten 'within', or write a longer 'timeout'.");
  }
  return { size, withinMs };
}
