import { LazaretError } from '../../core/errors.ts';
import type { Database } from './binding.ts';

/** 'LZRT' in the file's header: tells a Lazaret file from any other SQLite database. */
export const APPLICATION_ID = 0x4c5a5254;

export const SCHEMA_VERSION = 1;
/** Older ones are not migrated by this version. */
const OLDEST_READABLE_VERSION = 1;

/** Stands in `visible_at` of a message that is due, but behind an earlier one of its key. */
export const BEHIND: number = Number.MAX_SAFE_INTEGER;

/**
 * n.b. the table names carry a prefix, since an injected database may hold the user's own tables too.
 *
 * `visible_at` is the due time and the end of the lease in one, as a visibility timeout: a lease that runs out needs no sweep.
 * `token` is the number of the hand-out that has the lease, 0 without one; since `seq` is never given twice, both together
 * recognise a settlement that comes too late. `starts` counts hand-outs in a row without outcome.
 * The body stands last, so that reading the other columns does not walk through it.
 */
const TABLES = `
  CREATE TABLE lazaret_queues (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  CREATE TABLE lazaret_sequence (next INTEGER NOT NULL);
  INSERT INTO lazaret_sequence (next) VALUES (1);

  CREATE TABLE lazaret_messages (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    token INTEGER NOT NULL DEFAULT 0,
    starts INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 1,
    deliveries INTEGER NOT NULL DEFAULT 0,
    first_seen INTEGER NOT NULL,
    not_before INTEGER,
    id TEXT NOT NULL,
    key TEXT,
    headers TEXT,
    native TEXT,
    body BLOB
  );
  CREATE INDEX lazaret_ready ON lazaret_messages (queue, visible_at) WHERE starts < 2;
  CREATE INDEX lazaret_suspects ON lazaret_messages (queue, visible_at) WHERE starts >= 2;
  CREATE INDEX lazaret_keys ON lazaret_messages (queue, key) WHERE key IS NOT NULL;

  CREATE TABLE lazaret_letters (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    state TEXT NOT NULL,
    occurrence INTEGER NOT NULL,
    dead_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    why TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    strikes INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    first_seen INTEGER NOT NULL,
    id TEXT NOT NULL,
    key TEXT,
    headers TEXT,
    native TEXT,
    body BLOB
  );
  CREATE INDEX lazaret_letters_by_time ON lazaret_letters (queue, dead_at);
  CREATE INDEX lazaret_dead_keys ON lazaret_letters (queue, key) WHERE key IS NOT NULL AND state = 'open';

  CREATE TABLE lazaret_dedupe (
    queue INTEGER NOT NULL,
    dedupe_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (queue, dedupe_id)
  ) WITHOUT ROWID;
  CREATE INDEX lazaret_dedupe_expiry ON lazaret_dedupe (expires_at);
`;

/** Each part of Lazaret that keeps tables in the file has its own version here. */
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
export function checkVersion(db: Database, file: string): number | undefined {
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lazaret_components'").get() === undefined) return undefined;
  const row = db.prepare("SELECT version FROM lazaret_components WHERE name = 'broker'").get();
  if (row === undefined) return undefined;
  const version = Number(row[0]);
  if (version >= OLDEST_READABLE_VERSION && version <= SCHEMA_VERSION) return version;
  const newer = version > SCHEMA_VERSION;
  throw new LazaretError(
    'LZ1113',
    `The database '${file}' has schema ${version}; this version reads ${SCHEMA_VERSION}.`,
    {
      hint: newer
        ? 'Update Lazaret here, or keep the file for the newer one.'
        : 'Drain it with the version that wrote it.',
    },
  );
}

/** Inside a transaction. Only `ownFile` gets our mark: an injected database keeps its own. */
export function createTables(db: Database, ownFile: boolean): void {
  if (ownFile) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(COMPONENTS);
  db.exec(TABLES);
  db.prepare("INSERT INTO lazaret_components (name, version) VALUES ('broker', ?)").run(SCHEMA_VERSION);
}

/** Writes what is there already: that the file can be written shows when it is opened, and not at the first message. */
export function touchVersion(db: Database): void {
  db.exec("UPDATE lazaret_components SET version = version WHERE name = 'broker'");
}
