import { workerData } from 'node:worker_threads';

/**
 * Runs beside the handler, in a thread of its own, and ends the process when its parent is gone: a handler that never gives its thread
 * back would otherwise run on for ever, and nobody would know of it.
 */

const LOOK_EVERY_MS = 250;

const { parent } = workerData as { readonly parent: number };
const clock = new Int32Array(new SharedArrayBuffer(4));

while (parentLives()) Atomics.wait(clock, 0, 0, LOOK_EVERY_MS);
process.kill(process.pid, 'SIGKILL');

/** Where an orphan gets a new parent, its number tells; where it keeps the old one, a signal that does nothing finds nobody. */
function parentLives(): boolean {
  if (process.ppid !== parent) return false;
  try {
    return process.kill(parent, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
