import type { Database } from './binding.ts';

/** Runs `work` in a transaction that has the write lock from its start on. What is thrown goes on after the rollback. */
export function inTransaction(db: Database, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

export function rollBack(db: Database): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // A full disk and other severe errors have made SQLite roll back by itself: there is no transaction any more.
  }
}
