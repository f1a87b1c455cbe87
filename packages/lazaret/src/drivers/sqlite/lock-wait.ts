import type { System } from '../../ports/system.ts';

const FIRST_MS = 4;
const LONGEST_MS = 100;

/** How long to wait before the next try while another connection has the lock; jittered, so that two do not go on meeting. */
export function lockWait(tries: number, system: System): number {
  return Math.min(FIRST_MS * 2 ** Math.min(tries, 10), LONGEST_MS) * (0.5 + 0.5 * system.random());
}
