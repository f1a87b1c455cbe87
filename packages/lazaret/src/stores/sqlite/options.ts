import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import { givenOptions } from '../../core/option-values.ts';
import { BINDINGS, type BindingName, type SqliteDatabase } from '../../sqlite/binding.ts';
import type { OpenSettings } from '../../sqlite/open.ts';

export interface SqliteStoreOptions {
  /** The database file, created where it does not exist; its folder has to exist. It may be the broker's. Required unless `database` is given. */
  readonly file?: string;
  /** An open database to use instead, of better-sqlite3, `node:sqlite` or @photostructure/sqlite. It is not closed with the store. */
  readonly database?: SqliteDatabase;
  /** One of the bindings and no other; by default the first that is there. */
  readonly binding?: BindingName;
  /** How long a message is remembered after it was last begun or ended: longer than the broker may still bring it again. Default '30d'. */
  readonly retention?: string;
  /** How long a write is tried while another connection has the database locked; default '2s'. */
  readonly lockTimeout?: string;
  /** Opens the file although it lies on a network file system: only where one host alone ever does. Default `false`. */
  readonly allowNetworkFileSystem?: boolean;
}

export interface SqliteStoreSettings extends OpenSettings {
  readonly retentionMs: number;
}

const NAMES: Readonly<Record<keyof SqliteStoreOptions, true>> = {
  file: true,
  database: true,
  binding: true,
  retention: true,
  lockTimeout: true,
  allowNetworkFileSystem: true,
};

/** Throws LZ10xx for what cannot be meant. */
export function readOptions(options: SqliteStoreOptions): SqliteStoreSettings {
  givenOptions(options, Object.keys(NAMES), 'store');
  const { file, database, binding, retention = '30d', lockTimeout = '2s', allowNetworkFileSystem } = options;
  if (database === undefined) checkFile(file);
  else if (file !== undefined || binding !== undefined) {
    throw optionError('LZ1004', 'store', "'database' is open already.", "Leave out 'file' and 'binding'.");
  }
  if (binding !== undefined && !BINDINGS.includes(binding)) {
    throw optionError('LZ1003', 'binding', `${shown(binding)} is none.`, `There are ${BINDINGS.join(', ')}.`);
  }
  return {
    file,
    database,
    binding,
    retentionMs: parseDuration(retention, 'retention'),
    lockTimeoutMs: parseDuration(lockTimeout, 'lockTimeout'),
    allowNetworkFileSystem: allowNetworkFileSystem === true,
  };
}

function checkFile(file: unknown): void {
  if (typeof file === 'string' && file !== '' && file !== ':memory:' && !file.startsWith('file:')) return;
  throw optionError(
    'LZ1003',
    'store',
    `${shown(file)} is no plain path.`,
    "Write the path of a file, such as './journal.db'.",
  );
}
