import { existsSync, readFileSync } from 'node:fs';

/** Whether this platform tells how much memory another process uses. */
export const othersAreSeen: boolean = existsSync('/proc/self/status');

const OWN_PAGES = /^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$/gm;
const ALL_PAGES = /^VmRSS:\s*(\d+) kB$/m;

/**
 * Bytes that only the process `pid` uses: what would be free without it, swapped out or not. The code of Node itself, which all
 * processes share, is not in it. `undefined` where the process is gone or nothing is told.
 */
export function memoryOf(pid: number): number | undefined {
  try {
    return readStatus(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Older kernels and sandboxes tell only the whole; a process that is already dead has no pages to tell of. */
export function readStatus(status: string): number | undefined {
  const own = [...status.matchAll(OWN_PAGES)];
  if (status.includes('\nRssAnon:')) return own.reduce((sum, [, kb]) => sum + Number(kb) * 1024, 0);
  const [, all] = ALL_PAGES.exec(status) ?? [];
  return all === undefined ? undefined : Number(all) * 1024;
}
