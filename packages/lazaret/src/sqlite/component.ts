import { LazaretError } from '../core/errors.ts';
import type { Database } from './binding.ts';

/** 'LZRT' in the file's header: tells a Lazaret file from any other SQLite database. */
export const APPLICATION_ID = 0x4c5a5254;

/** A part of Lazaret that keeps tables in a file: each has its own version, and several may share one file. */
export interface Component {
  readonly name: string;
  readonly version: number;
  /** Older ones are not migrated by this code. */
  readonly oldestReadable: number;
  /** Statements that make its tables. */
  readonly tables: string;
}

const COMPONENTS =
  'CREATE TABLE IF NOT EXISTS lazaret_components (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID';

/** Throws LZ1112 where a file holds somebody else's database. An injected database may. */
export function checkOwner(db: Database, file: string): void {
  const applicationId = Number(db.prepare('PRAGMA application_id').get()?.[0]);
  if (applicationId === APPLICATION_ID) return;
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 20").all().map(String);
  if (applicationId === 0 && (tables.length === 0 || tables.some((name) => name.startsWith('lazaret_')))) return;
  const holds = tables.length === 0 ? `application id ${applicationId}` : `tables ${tables.slice(0, 5).join(', ')}`;
  throw new LazaretError('LZ1112', `The database '${file}' belongs to something else (${holds}).`, {
    hint: 'Name a file of its own. To keep messages beside your tables, hand in your open database as `database`.',
  });
}

/** The version of our tables, `undefined` where there are none yet. Throws LZ1113 for one that this code cannot read. */
export function checkVersion(
  db: Database,
  file: string,
  { name, version: newest, oldestReadable }: Component,
): number | undefined {
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lazaret_components'").get() === undefined) return undefined;
  const row = db.prepare('SELECT version FROM lazaret_components WHERE name = ?').get(name);
  if (row === undefined) return undefined;
  const version = Number(row[0]);
  if (version >= oldestReadable && version <= newest) return version;
  const newer = version > newest;
  throw new LazaretError('LZ1113', `The database '${file}' has schema ${version}; this version reads ${newest}.`, {
    hint: newer
      ? 'Update Lazaret here, or keep the file for the newer one.'
      : 'Drain it with the version that wrote it.',
  });
}

/** Inside a transaction. Only `ownFile` gets our mark: an injected database keeps its own. */
export function createTables(db: Database, ownFile: boolean, { name, version, tables }: Component): void {
  if (ownFile) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(COMPONENTS);
  db.exec(tables);
  db.prepare('INSERT INTO lazaret_components (name, version) VALUES (?, ?)').run(name, version);
}

/** Writes what is there already: that the file can be written shows when it is opened, and not at the first message. */
export function touchVersion(db: Database, { name }: Component): void {
  db.prepare('UPDATE lazaret_components SET version = version WHERE name = ?').run(name);
}
