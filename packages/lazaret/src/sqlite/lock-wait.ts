import type { Cancel, System } from '../ports/system.ts';

const FIRST_MS = 4;
const LONGEST_MS = 100;

/**
 * Tries again a while after another connection had the lock: later the more often it had, and jittered, so that two do not go on
 * meeting. The process stays alive for it, since somebody waits for what is to be written.
 */
export function afterLock(tries: number, system: System, again: () => void): Cancel {
  const waitMs = Math.min(FIRST_MS * 2 ** Math.min(tries, 10), LONGEST_MS) * (0.5 + 0.5 * system.random());
  const mayExit = system.stayAlive();
  const cancel = system.after(waitMs, () => {
    mayExit();
    again();
  });
  return () => {
    cancel();
    mayExit();
  };
}
