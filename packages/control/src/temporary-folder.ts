import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of our own, gone with the process however that ends, short of being killed. */
export function temporaryFolder(): string {
  const folder = keptFolder();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** The same, but it stays. */
export function keptFolder(): string {
  return mkdtempSync(join(tmpdir(), 'lazaret-'));
}
