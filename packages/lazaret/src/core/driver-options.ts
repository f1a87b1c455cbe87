import { didYouMean } from './did-you-mean.ts';
import { parseDuration } from './duration.ts';
import type { LazaretError } from './errors.ts';
import { optionError, shown } from './option-error.ts';

/** Throws LZ1001 for an option that the driver does not have. */
export function checkNames(driver: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) if (!names.includes(name)) throw unknownOption(driver, name, names);
}

export function unknownOption(driver: string, name: string, names: readonly string[]): LazaretError {
  const meant = didYouMean(name, names);
  const todo = meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean '${meant}'?`;
  return optionError('LZ1001', driver, `unknown option ${shown(name)}.`, todo);
}

/** Milliseconds. Throws LZ104x for what is no duration, LZ1003 for none at all. */
export function waitOf(value: string, option: string): number {
  const ms = parseDuration(value, option);
  if (ms === 0) throw optionError('LZ1003', option, 'nothing would ever be in time.', "Write '10s', for instance.");
  return ms;
}

/** Throws LZ1003 for what is not one of `all`. */
export function oneOf<T extends string>(option: string, value: T, all: readonly T[]): T {
  if (all.includes(value)) return value;
  throw optionError('LZ1003', option, `${shown(value)} is none.`, `There are ${all.join(', ')}.`);
}
