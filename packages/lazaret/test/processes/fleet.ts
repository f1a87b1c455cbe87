import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openSqlite } from '../../src/drivers/sqlite/index.ts';
import { realSystem } from '../../src/index.ts';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

interface WorkerEvent {
  readonly name: string;
  readonly id?: string;
  readonly reason?: string;
  readonly counts?: unknown;
}

/** Workers on one database file, each a process that can be killed, and the log of what they did. */
export function fleet() {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-fleet-'));
  const db = join(folder, 'orders.db');
  const log = join(folder, 'effects.log');
  writeFileSync(log, '');
  const events: (WorkerEvent & { pid: number })[] = [];
  const workers = new Set<ChildProcess>();

  return {
    db,
    events,
    workers,
    /** Resolves when it consumes. */
    async start(mode: string, options: object = {}): Promise<ChildProcess> {
      const child = spawn(process.execPath, [WORKER, JSON.stringify({ db, log, mode, options })], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      workers.add(child);
      child.once('exit', () => workers.delete(child));
      await new Promise<void>((resolve) => {
        createInterface({ input: child.stdout! }).on('line', (line) => {
          const event = JSON.parse(line) as WorkerEvent;
          events.push({ ...event, pid: child.pid! });
          if (event.name === 'ready') resolve();
        });
        child.once('exit', () => resolve());
      });
      return child;
    },
    /** Every line that a worker wrote, however it ended. */
    done(): { what: string; id: string; pid: number; extra: string }[] {
      return readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [what, id, pid, extra] = line.split(' ') as [string, string, string, string];
          return { what, id, pid: Number(pid), extra };
        });
    },
    /** The database, seen by a client of its own. */
    look: () => openSqlite({ file: db, system: realSystem }),
    async end(): Promise<void> {
      for (const child of [...workers]) child.kill('SIGKILL');
      while (workers.size > 0) await pause(20);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function until(what: string, ms: number, met: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + ms;
  while (!(await met())) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await pause(50);
  }
}

export function exit(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}
