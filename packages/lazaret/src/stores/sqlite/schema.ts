import type { Component } from '../../sqlite/component.ts';

/**
 * `day`: when the row was last written, in days: so coarse that its index is touched once a day and row, not with every write. `owner` is who
 * has it open. A row is what is known of one message; what the idempotency of handlers needs (payload hash, steps, result) goes beside it, as
 * further columns with defaults.
 */
export const JOURNAL: Component = {
  name: 'journal',
  version: 1,
  oldestReadable: 1,
  tables: `
  CREATE TABLE lazaret_journal (
    queue TEXT NOT NULL,
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    mark TEXT NOT NULL,
    copy INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    strikes INTEGER NOT NULL,
    token INTEGER NOT NULL,
    owner TEXT,
    state TEXT NOT NULL,
    doubled INTEGER NOT NULL,
    day INTEGER NOT NULL,
    PRIMARY KEY (queue, id)
  ) WITHOUT ROWID;
  CREATE INDEX lazaret_journal_by_day ON lazaret_journal (day);

  CREATE TABLE lazaret_owners (
    owner TEXT PRIMARY KEY,
    alive_until INTEGER NOT NULL
  ) WITHOUT ROWID;
`,
};
