/** Checks of values that JSON gave and anybody may have written. They take nothing over: what is not asked about is not looked at. */

export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

export function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest;
}

/** A whole number from 0 to `largest`. */
export function isCount(value: unknown, largest: number = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= largest;
}

export function isListOf<T>(value: unknown, longest: number, is: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.length <= longest && value.every(is);
}
