import { peek } from './peek.ts';

const LONGEST_MS: number = 24 * 60 * 60 * 1000;
const LONGEST_TEXT = 64;

const SECONDS = /^-?\d{1,15}(?:\.\d{1,9})?$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three forms of RFC 9110 section 5.6.7; the last two are obsolete and still sent. */
const IMF_DATE = /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/;
const RFC850_DATE = /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/;

/**
 * How long a dependency asked to be left alone, in whole milliseconds from 0 to 24 h; `undefined` where it did not, or not
 * readably. Looked for on the error and in the headers of its response; `now` (epoch milliseconds) is what dates count from.
 * Never throws.
 */
export function retryAfterOf(error: unknown, now: number): number | undefined {
  return (
    clampRetryAfter(peek(error, 'retryAfterMs')) ??
    readRetryAfter(textOnly(peek(error, 'retryAfter')), now) ??
    readRetryAfter(peek(error, 'retryAfterSeconds'), now) ??
    fromHeaders(peek(error, 'headers'), now) ??
    fromHeaders(peek(peek(error, 'response'), 'headers'), now) ??
    fromHeaders(peek(peek(error, '$response'), 'headers'), now)
  );
}

/** A bare number under this name is seconds in one library and milliseconds in the next. */
function textOnly(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A number of milliseconds, clamped to 0 … 24 h; `undefined` for what is not a number. */
export function clampRetryAfter(ms: unknown): number | undefined {
  if (typeof ms !== 'number' || Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_MS);
}

/** A value of `Retry-After`: seconds (as text or number) or an HTTP date. A date that is past means at once. */
function readRetryAfter(value: unknown, now: number): number | undefined {
  if (typeof value === 'number') return clampRetryAfter(value * 1000);
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return clampRetryAfter(Number(text) * 1000);
  const at = readHttpDate(text, now);
  return at === undefined ? undefined : clampRetryAfter(at - now);
}

function fromHeaders(headers: unknown, now: number): number | undefined {
  if (headers === undefined || headers === null) return undefined;
  const ms = headerOf(headers, 'retry-after-ms', 'Retry-After-Ms');
  if (typeof ms === 'string' && ms.length <= LONGEST_TEXT && SECONDS.test(ms)) return clampRetryAfter(Number(ms));
  return readRetryAfter(headerOf(headers, 'retry-after', 'Retry-After'), now);
}

/** Of a Headers instance, a Map, or an object of names (axios has both a `get` and names). The first value where there are several. */
function headerOf(headers: unknown, lower: string, usual: string): unknown {
  const value = get(headers, lower) ?? get(headers, usual) ?? peek(headers, lower) ?? peek(headers, usual);
  return typeof value === 'object' ? peek(value, 0) : value;
}

function get(headers: unknown, name: string): unknown {
  const read = peek(headers, 'get');
  if (typeof read !== 'function') return undefined;
  try {
    return read.call(headers, name) ?? undefined;
  } catch {
    return undefined;
  }
}

function readHttpDate(text: string, now: number): number | undefined {
  const parts = (IMF_DATE.exec(text) ?? RFC850_DATE.exec(text) ?? ASCTIME_DATE.exec(text))?.groups;
  if (parts === undefined) return undefined;
  const { day = '', month = '', year = '', time = '' } = parts;
  const [hours, minutes, seconds] = time.split(':').map(Number);
  const monthIndex = MONTHS.indexOf(month);
  if (monthIndex === -1) return undefined;
  return Date.UTC(fullYear(year, now), monthIndex, Number(day), hours, minutes, seconds);
}

/** Two digits that seem more than 50 years ahead mean the century before. */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(now).getUTCFullYear();
  const sameCentury = thisYear - (thisYear % 100) + Number(year);
  return sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury;
}
