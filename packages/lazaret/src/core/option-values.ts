import { didYouMean } from './did-you-mean.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { LazaretError } from './errors.ts';
import { optionError, shown } from './option-error.ts';

/** What was given, by name. A map and not the object: `__proto__` is a name like others, and nothing is inherited. */
export type Given = ReadonlyMap<string, unknown>;

/**
 * The options of `where` that are set (`undefined` counts as not given). Throws LZ1002 where they are no plain object, and
 * LZ1001 for a name that is not `known`.
 */
export function givenOptions(options: unknown, known: readonly string[], where: string): Given {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw optionError('LZ1002', where, `options are an object, not ${shown(options)}.`, `Known: ${known.join(', ')}.`);
  }
  refuseUnknown(options, known, where);
  return new Map(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** `given`, and what of `defaults` it leaves open. */
export function withDefaults(given: Given, defaults: object): Given {
  return new Map<string, unknown>([...Object.entries(defaults), ...given]);
}

/** Throws LZ1001 for the first own name of `given` that is not among `known`, with the one that was probably meant. */
export function refuseUnknown(given: object, known: readonly string[], where: string): void {
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const meant = didYouMean(stranger, known);
  throw new LazaretError('LZ1001', `${where}: unknown option ${shown(stranger)}.`, {
    hint: meant === undefined ? `Known: ${known.join(', ')}.` : `Did you mean '${meant}'?`,
  });
}

/** Throws LZ1002 for what is no number, LZ1003 for one that is not whole or below `least`. */
export function wholeNumber(value: unknown, option: string, least: number): number {
  if (typeof value !== 'number') {
    throw optionError('LZ1002', option, `${shown(value)} is not a number.`, `Write a whole number from ${least} on.`);
  }
  if (!Number.isSafeInteger(value) || value < least) {
    throw optionError('LZ1003', option, `${value} is out of range.`, `Write a whole number from ${least} on.`);
  }
  return value;
}

/** Like `parseDuration`, and LZ1003 for one below `leastMs`. */
export function durationFrom(leastMs: number, value: unknown, option: string): number {
  const ms = parseDuration(value, option);
  if (ms < leastMs) {
    throw optionError('LZ1003', option, `${shown(value)} is too short.`, `The least is ${formatDuration(leastMs)}.`);
  }
  return ms;
}

/** Throws LZ1002 for what is none of `choices`. */
export function oneOf<T extends string>(choices: readonly T[], value: unknown, option: string): T {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw notAmong(choices, value, option);
  return choice;
}

/** The error for a value that is none of `choices`. */
export function notAmong(choices: readonly string[], value: unknown, option: string): LazaretError {
  const meant = typeof value === 'string' ? didYouMean(value, choices) : undefined;
  const todo =
    meant === undefined
      ? `Write one of ${choices.map((choice) => `'${choice}'`).join(', ')}.`
      : `Did you mean '${meant}'?`;
  return optionError('LZ1002', option, `${shown(value)} is not one of its values.`, todo);
}
