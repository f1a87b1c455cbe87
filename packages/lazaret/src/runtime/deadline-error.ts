import { formatDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';

export function deadlineError(timeoutMs: number): LazaretError {
  return new LazaretError('LZ1203', `the handler passed its deadline of ${formatDuration(timeoutMs)}.`, {
    hint: "Raise 'timeout', or ask for time with ctx.extend.",
  });
}
