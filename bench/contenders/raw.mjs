import { inArrays, openDatabase } from '../bindings.mjs';

/**
 * What one would write by hand for one table, and then tune: claim a batch, run its handlers, settle the batch. Two transactions
 * a batch. The claim selects, and then updates by id: `UPDATE … WHERE id IN (SELECT … LIMIT ?)` in one builds a temporary
 * b-tree for each call, and is three times slower at one message a batch. `LIMIT ? + 0`, since SQLite prepares a statement with
 * a bare `LIMIT ?` anew each time that it is bound.
 */
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY, ready INTEGER NOT NULL DEFAULT 1, run_at INTEGER NOT NULL, leased_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0, body BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ready_messages ON messages (run_at) WHERE ready = 1;
  CREATE TABLE IF NOT EXISTS dead (
    id INTEGER PRIMARY KEY, died_at INTEGER NOT NULL, error TEXT NOT NULL, stack TEXT, attempts INTEGER NOT NULL, body BLOB NOT NULL
  );
`;

const LEASE_MS = 90_000;

/** `durable`: publish, retry and dead-letter survive a power cut, as Lazaret's do. Without it, a crash of the process only. */
export async function open({ binding, file, durable = false }) {
  const db = await openDatabase(binding, file);
  db.exec(SCHEMA);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const insert = db.prepare('INSERT INTO messages (run_at, body) VALUES (?, ?)');
  const due = inArrays(
    db.prepare(
      'SELECT id, attempts, body FROM messages WHERE ready = 1 AND run_at <= ? ORDER BY run_at, id LIMIT ? + 0',
    ),
  );
  const nextDue = inArrays(db.prepare('SELECT run_at FROM messages WHERE ready = 1 ORDER BY run_at LIMIT 1'));
  const lease = db.prepare('UPDATE messages SET ready = 0, leased_until = ? WHERE id = ?');
  const remove = db.prepare('DELETE FROM messages WHERE id = ?');
  const putBack = db.prepare('UPDATE messages SET ready = 1, run_at = ?, attempts = ? WHERE id = ?');
  const bury = db.prepare('INSERT INTO dead (died_at, error, stack, attempts, body) VALUES (?, ?, ?, ?, ?)');
  let synchronous = 'NORMAL';
  let wake = () => {};

  /** n.b. `synchronous` cannot change inside a transaction. */
  function transaction(wanted, work) {
    if (durable && wanted !== synchronous) {
      synchronous = wanted;
      db.exec(`PRAGMA synchronous = ${wanted}`);
    }
    begin.run();
    work();
    commit.run();
  }

  function claim(max) {
    const now = Date.now();
    let rows;
    transaction('NORMAL', () => {
      rows = due.all(now, max);
      for (const row of rows) lease.run(now + LEASE_MS, row[0]);
    });
    return rows;
  }

  async function run([, , body], handle) {
    try {
      await handle(body);
    } catch (error) {
      return error;
    }
  }

  function settle(rows, errors, { maxAttempts, retryDelayMs }) {
    const now = Date.now();
    transaction(errors.every((error) => error === undefined) ? 'NORMAL' : 'FULL', () => {
      for (let i = 0; i < rows.length; i++) {
        const [id, attempts, body] = rows[i];
        const error = errors[i];
        if (error !== undefined && attempts + 1 < maxAttempts) {
          putBack.run(now + retryDelayMs, attempts + 1, id);
          continue;
        }
        if (error !== undefined) bury.run(now, error.message, error.stack, attempts + 1, body);
        remove.run(id);
      }
    });
  }

  /** Until somebody publishes, or the next retry is due. */
  function work() {
    const [dueAt] = nextDue.get() ?? [];
    return new Promise((resolve) => {
      const timer = dueAt === undefined ? undefined : setTimeout(resolve, Math.max(1, dueAt - Date.now()));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    async publish(bodies, { delayMs = 0 } = {}) {
      const runAt = Date.now() + delayMs;
      transaction('FULL', () => {
        for (const body of bodies) insert.run(runAt, body);
      });
      wake();
    },

    async consume({ concurrency, maxAttempts = 4, retryDelayMs = 0 }, handle, ended) {
      let running = true;
      const loop = async () => {
        while (running) {
          const rows = claim(concurrency);
          if (rows.length === 0) {
            await work();
            continue;
          }
          const errors = await Promise.all(rows.map((row) => run(row, handle)));
          settle(rows, errors, { maxAttempts, retryDelayMs });
          ended(endings(rows, errors, maxAttempts));
        }
      };
      const over = loop();
      return async () => {
        running = false;
        wake();
        await over;
      };
    },

    async close() {
      db.close();
    },
  };
}

/** Messages that are acked or dead: not those that were put back. */
function endings(rows, errors, maxAttempts) {
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (errors[i] === undefined || rows[i][1] + 1 >= maxAttempts) count++;
  return count;
}
