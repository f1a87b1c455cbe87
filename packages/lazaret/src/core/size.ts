import { optionError, shown } from './option-error.ts';

/** Largest first. 1kb is 1024 bytes, as brokers count their limits. */
const UNITS: readonly (readonly [unit: string, bytes: number])[] = [
  ['gb', 1024 ** 3],
  ['mb', 1024 ** 2],
  ['kb', 1024],
  ['b', 1],
];

const SIZE = /^([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(gb|mb|kb|b)$/i;

/**
 * Whole bytes of a size with its unit: '512b', '256kb', '1.5mb', '2gb' (1kb is 1024 bytes; case does not count).
 * Throws LZ1002 for what cannot be read or has no unit, LZ1003 for less than a byte. `option` is the name in the error.
 */
export function parseSize(value: unknown, option: string): number {
  const [, amount, unit] = (typeof value === 'string' ? SIZE.exec(value) : null) ?? [];
  if (amount === undefined) {
    const meant =
      typeof value === 'number' && value >= 1 ? `Did you mean '${formatSize(value)}'?` : "Write '256kb' or '10mb'.";
    throw optionError('LZ1002', option, `${shown(value)} is not a size.`, meant);
  }
  const bytes = Math.floor(Number(amount) * UNITS.find(([name]) => name === unit!.toLowerCase())![1]);
  if (bytes < 1 || bytes > Number.MAX_SAFE_INTEGER) {
    throw optionError('LZ1003', option, `${shown(value)} is out of range.`, 'Write at least one byte.');
  }
  return bytes;
}

/** A size as one would write it, in the largest unit in which it is whole: '256kb', '10mb', '1000b'. */
export function formatSize(bytes: number): string {
  const whole = Math.round(bytes);
  const [unit, unitBytes] = UNITS.find(([, unitBytes]) => whole >= unitBytes && whole % unitBytes === 0) ?? ['b', 1];
  return `${whole / unitBytes}${unit}`;
}
