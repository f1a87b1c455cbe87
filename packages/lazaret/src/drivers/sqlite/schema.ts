import type { Component } from '../../sqlite/component.ts';

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

/** What the driver keeps in a file. */
export const BROKER: Component = {
  name: 'broker',
  version: SCHEMA_VERSION,
  oldestReadable: OLDEST_READABLE_VERSION,
  tables: TABLES,
};
