import type { Field } from './wire/table.ts';

/** What the broker says of a message that it has sent before. */
export interface Returns {
  /** How often it came back because a delivery failed; `undefined`: it came back, and nobody counted. */
  readonly failed: number | undefined;
  /** How often it was sent out before this time, in all; `undefined` where that is not known. */
  readonly sent: number | undefined;
}

export const NEVER_RETURNED: Returns = Object.freeze({ failed: 0, sent: 0 });

const FAILED = 'x-delivery-count';
const SENT = 'x-acquired-count';

/** Came back twice: it may have killed somebody, or merely have been near. Which of the two, only running it alone can tell. */
const SUSPECT_RETURNS = 2;

/**
 * Believed only of a message that comes again: on its first way a producer's own headers of these names are still on it.
 * Up to 4.2 every return counts as failed, also one that was asked for; from 4.3 there is a count of its own for all.
 */
export function returnsOf(redelivered: boolean, fields: readonly Field[]): Returns {
  if (!redelivered) return NEVER_RETURNED;
  const failed = countOf(fields, FAILED);
  const sent = countOf(fields, SENT);
  return { failed: failed ?? (sent === undefined ? undefined : 0), sent: sent ?? failed };
}

/** A queue that does not count says only that it comes again. */
export function isSuspect({ failed }: Returns): boolean {
  return failed === undefined || failed >= SUSPECT_RETURNS;
}

/** In the lane only one is taken at a time, to be started: each return is a start without an outcome. */
export function strikesInLane({ failed = 0 }: Returns): number {
  return SUSPECT_RETURNS + failed;
}

function countOf(fields: readonly Field[], name: string): number | undefined {
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined) return undefined;
  const count = numberOf(field);
  return count !== undefined && count >= 0 ? count : undefined;
}

function numberOf({ tag, value }: Field): number | undefined {
  switch (tag) {
    case 'b':
      return value.readInt8(0);
    case 'B':
      return value.readUInt8(0);
    case 's':
      return value.readInt16BE(0);
    case 'u':
      return value.readUInt16BE(0);
    case 'I':
      return value.readInt32BE(0);
    case 'i':
      return value.readUInt32BE(0);
    case 'l':
      return Number(value.readBigInt64BE(0));
    default:
      return undefined;
  }
}
