import { LazaretError } from './errors.ts';
import { shown } from './option-error.ts';

/** Where a page ended, as text: opaque for whoever hands it back. */
export function writeCursor(numbers: readonly unknown[]): string {
  return numbers.join('.');
}

/** `[]` for the first page. Throws LZ1003 for text that no page gave. */
export function readCursor(cursor: string | undefined, length: number): readonly number[] {
  if (cursor === undefined) return [];
  const parts = cursor.split('.');
  if (parts.length === length && parts.every((part) => /^[0-9]{1,16}$/.test(part))) return parts.map(Number);
  throw new LazaretError('LZ1003', `${shown(cursor)} is no place in a list.`, {
    hint: "Hand in the 'next' of an earlier page, or nothing for the first one.",
  });
}
