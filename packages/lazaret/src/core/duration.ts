import { optionError, shown } from './option-error.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Largest first: a combined duration names its units in this order, each at most once. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['m', MINUTE_MS],
  ['s', SECOND_MS],
  ['ms', 1],
];

const LONGEST_MS: number = 3650 * DAY_MS;

const DURATION = /^(-?)((?:[0-9]{1,15}(?:\.[0-9]{1,15})?(?:ms|s|m|h|d) ?)+)$/;
const PART = /([0-9.]+)(ms|s|m|h|d)/g;
const NUMBER_ALONE = /^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/;
const RATE = /^([0-9]{1,9}) ?\/ ?(s|m|h|d)$/;
const PERCENT = /^±? ?([0-9]{1,9}(?:\.[0-9]{1,9})?) ?%$/;
/** Longer text is unreadable without a look: no pattern runs on input of any size. */
const LONGEST_TEXT = 64;

/**
 * Whole milliseconds of a duration with units: '250ms', '90s', '1.5m', '2h', '30d', combined '1h30m' or '1h 30m'.
 * A fraction of a millisecond is rounded, but never to nothing. '0s' is a duration; whether it makes sense, its option says.
 *
 * Throws LZ1042 for a number without a unit, LZ1043 for other text, LZ1003 for a negative, not finite or too long (3650 d)
 * value and LZ1002 for what is neither text nor number. `option` is the name under which the error speaks of it.
 */
export function parseDuration(value: unknown, option: string): number {
  if (typeof value === 'number' || typeof value === 'bigint') throw numberForDuration(Number(value), option);
  if (typeof value !== 'string') {
    throw optionError('LZ1002', option, `${shown(value)} is not a duration.`, "Write text with a unit, such as '90s'.");
  }
  const text = value.trim();
  if (text.length <= LONGEST_TEXT && NUMBER_ALONE.test(text)) throw numberForDuration(Number(text), option);
  const ms = readDuration(text);
  if (ms === undefined) {
    const todo = "Write a number and a unit (ms, s, m, h, d), such as '250ms', '90s' or '1h30m'.";
    throw optionError('LZ1043', option, `unreadable duration ${shown(value)}.`, todo);
  }
  if (ms < 0 || ms > LONGEST_MS) throw durationOutOfRange(shown(value), option);
  return ms === 0 ? 0 : Math.max(1, Math.round(ms));
}

/** Exact, in milliseconds; negative where the text says so. */
function readDuration(text: string): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const [, sign, parts] = DURATION.exec(text) ?? [];
  if (parts === undefined) return undefined;
  let ms = 0;
  let smallest = -1;
  for (const [, amount, unit] of parts.matchAll(PART)) {
    const index = UNITS.findIndex(([name]) => name === unit);
    if (index <= smallest) return undefined;
    smallest = index;
    ms += Number(amount) * UNITS[index]![1];
  }
  return sign === '-' ? -ms : ms;
}

function numberForDuration(value: number, option: string): Error {
  if (!Number.isFinite(value) || value < 0) return durationOutOfRange(String(value), option);
  // From a thousand on, milliseconds are the likelier meaning.
  const meant = value >= SECOND_MS ? `'${formatDuration(value)}' or '${value}s'` : `'${value}s'`;
  return optionError('LZ1042', option, `bare number for a duration: ${value} →`, `did you mean ${meant}?`);
}

function durationOutOfRange(given: string, option: string): Error {
  return optionError('LZ1003', option, `${given} is out of range.`, 'A duration lies between 0s and 3650d.');
}

/**
 * A duration as one would write it: '250ms', '1.6s', '1m30s', '2d3h'. Exact: whole milliseconds read back as they were.
 * Whoever wants it shorter rounds first.
 */
export function formatDuration(ms: number): string {
  const whole = Math.round(ms);
  if (!Number.isFinite(whole) || whole < SECOND_MS) return `${whole}ms`;
  let text = '';
  let rest = whole;
  for (const [unit, unitMs] of UNITS) {
    if (unitMs < MINUTE_MS) break;
    const amount = Math.floor(rest / unitMs);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * unitMs;
  }
  return rest === 0 ? text : `${text}${rest / SECOND_MS}s`;
}

/** The largest unit that `ms` fills at least once, with its milliseconds; 'ms' for what is shorter than a second. */
export function largestUnit(ms: number): readonly [unit: string, ms: number] {
  return UNITS.find(([, unitMs]) => ms >= unitMs) ?? ['ms', 1];
}

/** `count` per `perMs`. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** A rate with its unit: '100/s', '5/m', '2/h', '1/d'. Throws LZ1044 for what cannot be read, LZ1003 for none at all ('0/s'). */
export function parseRate(value: unknown, option: string): Rate {
  const [, count, unit] = matchShort(RATE, value) ?? [];
  if (count === undefined) {
    const meant = typeof value === 'number' && value >= 1 ? `Did you mean '${Math.floor(value)}/s'?` : "Write '100/s'.";
    const todo = `${meant} The count is a whole number, the unit one of s, m, h, d.`;
    throw optionError('LZ1044', option, `unreadable rate ${shown(value)}.`, todo);
  }
  if (Number(count) === 0) {
    throw optionError(
      'LZ1003',
      option,
      `${shown(value)} would let nothing through.`,
      'Write at least one, or pause instead.',
    );
  }
  return { count: Number(count), perMs: UNITS.find(([name]) => name === unit)![1] };
}

/**
 * The share that a percentage says: '20%' and '±20%' are 0.2. From 0 to 100; anything else is LZ1003, other text or a bare
 * number LZ1002.
 */
export function parsePercent(value: unknown, option: string): number {
  const [, number] = matchShort(PERCENT, value) ?? [];
  if (number === undefined) {
    const meant =
      typeof value === 'number' ? `Did you mean '${value > 0 && value < 1 ? value * 100 : value}%'?` : "Write '20%'.";
    throw optionError('LZ1002', option, `${shown(value)} is not a percentage.`, meant);
  }
  if (Number(number) > 100) {
    throw optionError('LZ1003', option, `${shown(value)} is out of range.`, 'A percentage lies between 0% and 100%.');
  }
  return Number(number) / 100;
}

function matchShort(pattern: RegExp, value: unknown): RegExpExecArray | null {
  return typeof value === 'string' && value.length <= LONGEST_TEXT ? pattern.exec(value.trim()) : null;
}
