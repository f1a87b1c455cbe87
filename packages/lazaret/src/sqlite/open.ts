import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LazaretError } from '../core/errors.ts';
import type { System } from '../ports/system.ts';
import { adopt, type BindingName, type Database, findBinding, type SqliteDatabase } from './binding.ts';
import { type Component, checkOwner, checkVersion, createTables, touchVersion } from './component.ts';
import { explained, isBusy } from './errors.ts';
import { afterLock } from './lock-wait.ts';
import { judgeFileSystem } from './network-file-system.ts';
import { inTransaction } from './transaction.ts';

/** SQLite waits so long by itself, and the event loop with it; longer waits are ours, and asynchronous. */
const BUSY_TIMEOUT_MS = 15;

/**
 * A commit that finds the write-ahead log this long (16 MB) moves it into the database by itself. Rare on purpose: the pauses
 * between writes do it before (checkpoint.ts), and a page that changed a hundred times is then moved once.
 */
const WAL_PAGES = 4_000;
/** What the log file shrinks to after it grew beyond, because a reader kept it from being moved. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;

/** One of `file` and `database`. */
export interface OpenSettings {
  readonly file: string | undefined;
  readonly database: SqliteDatabase | undefined;
  readonly binding: BindingName | undefined;
  readonly lockTimeoutMs: number;
  readonly allowNetworkFileSystem: boolean;
}

export interface OpenDatabase {
  readonly db: Database;
  /** Absolute; for errors. */
  readonly file: string;
  /** `false`: handed in, and perhaps with tables of others in it. */
  readonly own: boolean;
  /** Sentences for people: what is allowed, but looks wrong. */
  readonly warnings: readonly string[];
}

/** Opens or adopts the database, and sees to it that our tables are there. Throws LZ111x. */
export async function openDatabase(
  settings: OpenSettings,
  system: System,
  component: Component,
  fileSystemType: (folder: string) => number = typeOf,
): Promise<OpenDatabase> {
  if (settings.database !== undefined) {
    const open = { db: adopt(settings.database), file: 'the given database', own: false, warnings: [] };
    await prepare(open, settings, system, component);
    return open;
  }
  const file = resolve(settings.file!);
  checkPath(file);
  const warnings = checkFileSystem(dirname(file), file, settings, fileSystemType);
  const binding = await findBinding(settings.binding);
  const db = attempt(file, () => binding.open(file));
  const open = { db, file, own: true, warnings };
  try {
    await prepare(open, settings, system, component);
  } catch (error) {
    db.close();
    throw error;
  }
  return open;
}

/** Another process may be doing the very same, or have a transaction open. */
async function prepare(
  open: OpenDatabase,
  settings: OpenSettings,
  system: System,
  component: Component,
): Promise<void> {
  const giveUpAt = system.monotonic() + settings.lockTimeoutMs;
  for (let tries = 0; ; tries++) {
    try {
      return setUp(open, component);
    } catch (error) {
      if (!isBusy(error) || system.monotonic() >= giveUpAt) throw explained(error, open.file);
      await new Promise<void>((resolve) => afterLock(tries, system, resolve));
    }
  }
}

function setUp({ db, file, own }: OpenDatabase, component: Component): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  if (own) checkOwner(db, file);
  checkVersion(db, file, component);
  const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.[0];
  if (own && mode !== 'wal') {
    throw new LazaretError('LZ1116', `'${file}' lies where SQLite cannot keep a write-ahead log (it uses '${mode}').`, {
      hint: 'Move it to a local disk.',
    });
  }
  db.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`);
  inTransaction(db, () => {
    if (checkVersion(db, file, component) === undefined) createTables(db, own, component);
    else touchVersion(db, component);
  });
}

function checkPath(file: string): void {
  const folder = dirname(file);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) {
    const is = found === undefined ? 'does not exist' : 'is no folder';
    throw new LazaretError('LZ1114', `The database '${file}' cannot be created: '${folder}' ${is}.`, {
      hint: 'Create the folder first; a typing error in the path should not become a new database.',
    });
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new LazaretError('LZ1114', `'${file}' is a folder, not a database.`, { hint: 'Name a file inside of it.' });
  }
}

function checkFileSystem(
  folder: string,
  file: string,
  settings: OpenSettings,
  fileSystemType: (folder: string) => number,
): readonly string[] {
  const { verdict, name } = judgeFileSystem(fileSystemType(folder));
  if (verdict === 'fine') return [];
  const lies = `'${file}' lies on a network file system (${name})`;
  if (verdict === 'network' && !settings.allowNetworkFileSystem) {
    throw new LazaretError('LZ1116', `${lies}, where two hosts would damage it.`, {
      hint: 'Move it to a local disk, or set allowNetworkFileSystem: true where one host alone ever opens it.',
    });
  }
  return [verdict === 'network' ? `${lies}; only one host may open it.` : `'${file}' may lie on a network (${name}).`];
}

function typeOf(folder: string): number {
  return statfsSync(folder).type;
}

function attempt<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw explained(error, file);
  }
}
