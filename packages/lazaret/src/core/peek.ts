/**
 * Looking at a value that may be anything: a revoked proxy, an object whose getters throw, a number.
 * Nothing here throws. What a getter does, and how long it takes, is its own affair; each is asked once.
 */

/** `value[key]`, or `undefined` where there is none or the asking fails. */
export function peek(value: unknown, key: PropertyKey): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return undefined;
  try {
    return (value as Readonly<Record<PropertyKey, unknown>>)[key];
  } catch {
    return undefined;
  }
}

/** The first `max` items of an array, however long it is; `[]` for anything else. */
export function peekItems(value: unknown, max: number): readonly unknown[] {
  if (!isArray(value)) return [];
  const length = peek(value, 'length');
  const items: unknown[] = [];
  for (let at = 0; typeof length === 'number' && at < length && at < max; at++) items.push(peek(value, at));
  return items;
}

/** `Array.isArray`, which throws when it is asked about a revoked proxy. */
export function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
