import { readdirSync, readFileSync } from 'node:fs';
import { othersAreSeen } from '../../../src/runtime/isolate/memory-use.ts';
import { realSystem } from '../../../src/system.ts';

/** Looking at processes from outside, in real time. */

/** `false` also of one that has ended and whose parent has not asked how. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !othersAreSeen || !readFileSync(`/proc/${pid}/status`, 'latin1').includes('\nState:\tZ');
  } catch {
    return false;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    realSystem.after(ms, resolve);
  });
}

/** Waits for at most five seconds. */
export async function isGone(pid: number): Promise<boolean> {
  for (let look = 0; look < 250 && lives(pid); look++) await pause(20);
  return !lives(pid);
}

/** The children of this process that run a handler. `[]` where the platform does not show them. */
export function processes(): number[] {
  if (!othersAreSeen) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && lives(pid) && isChild(pid));
}

function isChild(pid: number): boolean {
  try {
    const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('dist/child.js');
  } catch {
    return false;
  }
}
