import type { JournalRecord } from '../../core/journal.ts';
import type { Database, Row, Statement } from '../../sqlite/binding.ts';
import { loadText } from '../../sqlite/text.ts';

const DAY_MS = 24 * 3_600_000;
/** Rows that one batch of pruning removes. */
const PRUNED_AT_ONCE = 500;

/** The rows of the journal, and who of its owners lives. Inside the writer's transaction. */
export class Records {
  readonly #find: Statement;
  readonly #put: Statement;
  readonly #prune: Statement;
  readonly #aliveUntil: Statement;
  readonly #live: Statement;
  readonly #bury: Statement;
  readonly #buryOld: Statement;

  constructor(db: Database) {
    this.#find = db.prepare(`
      SELECT epoch, mark, copy, charged, strikes, token, owner, state, doubled FROM lazaret_journal
      WHERE queue = ? AND id = ?`);
    this.#put = db.prepare(`
      INSERT INTO lazaret_journal (queue, id, epoch, mark, copy, charged, strikes, token, owner, state, doubled, day)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (queue, id) DO UPDATE SET epoch = excluded.epoch, mark = excluded.mark, copy = excluded.copy,
        charged = excluded.charged, strikes = excluded.strikes, token = excluded.token, owner = excluded.owner,
        state = excluded.state, doubled = excluded.doubled, day = excluded.day`);
    this.#prune = db.prepare(`
      DELETE FROM lazaret_journal WHERE (queue, id) IN (
        SELECT queue, id FROM lazaret_journal WHERE day < ? ORDER BY day LIMIT ${PRUNED_AT_ONCE}
      )`);
    this.#aliveUntil = db.prepare('SELECT alive_until FROM lazaret_owners WHERE owner = ?');
    this.#live = db.prepare('INSERT OR REPLACE INTO lazaret_owners (owner, alive_until) VALUES (?, ?)');
    this.#bury = db.prepare('DELETE FROM lazaret_owners WHERE owner = ?');
    this.#buryOld = db.prepare('DELETE FROM lazaret_owners WHERE alive_until < ?');
  }

  find(queue: string, id: string): JournalRecord | undefined {
    const row = this.#find.get(queue, id);
    return row === undefined ? undefined : recordOf(row);
  }

  put(queue: string, id: string, record: JournalRecord, now: number): void {
    const { epoch, mark, copy, charged, strikes, token, openBy, state, doubled } = record;
    const day = Math.floor(now / DAY_MS);
    const flag = doubled ? 1 : 0;
    this.#put.run(queue, id, epoch, mark, copy, charged, strikes, token, openBy ?? null, state, flag, day);
  }

  /** How many rows it removed: some of those last written before `before`. */
  prune(before: number): number {
    return this.#prune.run(Math.floor(before / DAY_MS));
  }

  isAlive(owner: string, now: number): boolean {
    const row = this.#aliveUntil.get(owner);
    return row !== undefined && (row[0] as number) > now;
  }

  live(owner: string, until: number): void {
    this.#live.run(owner, Math.ceil(until));
  }

  bury(owner: string): void {
    this.#bury.run(owner);
  }

  buryOld(before: number): void {
    this.#buryOld.run(before);
  }
}

function recordOf(row: Row): JournalRecord {
  const [epoch, mark, copy, charged, strikes, token, owner, state, doubled] = row as [
    number,
    string,
    number,
    number,
    number,
    number,
    string | Uint8Array | null,
    JournalRecord['state'],
    number,
  ];
  const openBy = owner === null ? undefined : loadText(owner);
  return { epoch, mark, copy, charged, strikes, token, openBy, state, doubled: doubled === 1 };
}
