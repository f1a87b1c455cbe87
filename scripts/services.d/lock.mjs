import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs `action` while no other process holds the lock of this file; waits for it without limit. The kernel holds the
 * lock for a child that lives as long as our end of its input, so a caller that is killed leaves nothing behind.
 * @template Result
 * @param {string} path
 * @param {() => Promise<Result>} action
 * @returns {Promise<Result>}
 */
export async function withLock(path, action) {
  const holder = spawn('flock', [path, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(holder, 'close');
  const held = await Promise.race([once(holder.stdout, 'data'), closed]);
  if (!Buffer.isBuffer(held[0])) throw new Error(`could not lock ${path}: flock ended with ${held[0]}`);
  try {
    return await action();
  } finally {
    holder.stdin.end();
    await closed;
  }
}
