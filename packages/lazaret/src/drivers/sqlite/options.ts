import { checkNames, oneOf } from '../../core/driver-options.ts';
import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import { BINDINGS, type BindingName, type SqliteDatabase } from '../../sqlite/binding.ts';

export interface SqliteOptions {
  /** The database file, created where it does not exist; its folder has to exist. Required unless `database` is given. */
  readonly file?: string;
  /**
   * An open database to use instead, of better-sqlite3, `node:sqlite` or @photostructure/sqlite. It is not closed with the
   * broker, may hold tables of yours, and should not be inside a transaction when the broker is called.
   */
  readonly database?: SqliteDatabase;
  /** One of the bindings and no other; by default the first that is there. */
  readonly binding?: BindingName;
  /** How long letters are kept after they died; default '30d'. */
  readonly letterRetention?: string;
  /** A message that was due for so long and fetched by nobody becomes a letter with reason `expired`; by default none does. */
  readonly messageRetention?: string;
  /** How long a `dedupeId` is remembered; default '24h'. */
  readonly dedupeWindow?: string;
  /** How long a write is tried while another connection has the database locked; default '10s'. */
  readonly lockTimeout?: string;
  /** Opens the file although it lies on a network file system: only where one host alone ever does. Default `false`. */
  readonly allowNetworkFileSystem?: boolean;
}

/** Checked, with defaults, in milliseconds. */
export interface SqliteSettings {
  readonly file: string | undefined;
  readonly database: SqliteDatabase | undefined;
  readonly binding: BindingName | undefined;
  readonly letterRetentionMs: number;
  readonly messageRetentionMs: number | undefined;
  readonly dedupeWindowMs: number;
  readonly lockTimeoutMs: number;
  readonly allowNetworkFileSystem: boolean;
}

const NAMES: readonly (keyof SqliteOptions)[] = [
  'file',
  'database',
  'binding',
  'letterRetention',
  'messageRetention',
  'dedupeWindow',
  'lockTimeout',
  'allowNetworkFileSystem',
];

/** Throws LZ10xx for what cannot be meant. */
export function readOptions(options: SqliteOptions): SqliteSettings {
  checkNames('sqlite', options, NAMES);
  const { file, database, binding } = options;
  if (database === undefined) checkFile(file);
  else if (file !== undefined || binding !== undefined) {
    throw optionError('LZ1004', 'sqlite', "'database' is open already.", "Leave out 'file' and 'binding'.");
  }
  if (binding !== undefined) oneOf('binding', binding, BINDINGS);
  return {
    file,
    database,
    binding,
    letterRetentionMs: parseDuration(options.letterRetention ?? '30d', 'letterRetention'),
    messageRetentionMs:
      options.messageRetention === undefined ? undefined : parseDuration(options.messageRetention, 'messageRetention'),
    dedupeWindowMs: parseDuration(options.dedupeWindow ?? '24h', 'dedupeWindow'),
    lockTimeoutMs: parseDuration(options.lockTimeout ?? '10s', 'lockTimeout'),
    allowNetworkFileSystem: options.allowNetworkFileSystem === true,
  };
}

function checkFile(file: unknown): void {
  if (typeof file !== 'string' || file === '') {
    throw optionError(
      'LZ1002',
      'file',
      `${shown(file)} is no path.`,
      "Write the path of the database, such as './orders.db'.",
    );
  }
  // A database in memory is lost with the process, and a second connection does not see it.
  if (file === ':memory:' || file.startsWith('file:')) {
    throw optionError(
      'LZ1003',
      'file',
      `${shown(file)} is no plain path.`,
      "Write './orders.db', or use the memory driver.",
    );
  }
}
