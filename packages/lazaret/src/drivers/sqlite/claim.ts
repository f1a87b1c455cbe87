import type { Database, Row, Statement } from '../../sqlite/binding.ts';
import { eachRun } from './runs.ts';
import { BEHIND } from './schema.ts';

/** The columns of a claimed row, as they were before the claim. */
export const COLUMN = {
  seq: 0,
  deliveries: 1,
  starts: 2,
  attempt: 3,
  firstSeen: 4,
  notBefore: 5,
  id: 6,
  key: 7,
  headers: 8,
  native: 9,
  body: 10,
  /** Only of claims in order: 1 where an earlier letter of the key is open. */
  blocked: 11,
  /** Only of claims in order: 1 where an earlier message of the key is still there. */
  behind: 12,
} as const;

const COLUMNS = 'seq, deliveries, starts, attempt, first_seen, not_before, id, key, headers, native, body';

const KEY_STATE = `
  key IS NOT NULL AND EXISTS (
    SELECT 1 FROM lazaret_letters l WHERE l.queue = m.queue AND l.key = m.key AND l.state = 'open' AND l.seq < m.seq
  ) AS blocked,
  key IS NOT NULL AND EXISTS (
    SELECT 1 FROM lazaret_messages e WHERE e.queue = m.queue AND e.key = m.key AND e.seq < m.seq
  ) AS behind`;

/** Rows that one claim in order looks at beyond those it takes: one hot key with a long backlog delays nobody for long. */
const LOOK_AHEAD = 256;

/**
 * Taking messages, inside the writer's transaction: a select in the order of the partial index, then an update by `seq`.
 * (`UPDATE … WHERE seq IN (SELECT …)` in one builds a temporary b-tree for each call, and is slower.)
 * Neither walks over what is due later, so the cost does not depend on how much there is.
 */
export class Claims {
  readonly #due: Statement;
  readonly #dueInOrder: Statement;
  readonly #behind: Statement;
  readonly #suspect: Statement;
  readonly #suspectInOrder: Statement;
  readonly #take: Statement;
  readonly #setAside: Statement;
  readonly #promote: Statement;
  readonly #promoteHeads: Statement;

  constructor(db: Database) {
    const claimable = (what: string, where: string) =>
      db.prepare(
        // n.b. the signs and the sum keep SQLite from preparing the statement anew for each value that it could plan with.
        `SELECT ${what} FROM lazaret_messages m WHERE queue = +? AND ${where} ORDER BY visible_at, seq LIMIT ? + 0`,
      );
    this.#due = claimable(COLUMNS, 'visible_at <= +? AND starts < 2');
    this.#dueInOrder = claimable(`${COLUMNS}, ${KEY_STATE}`, 'visible_at <= +? AND starts < 2');
    this.#behind = claimable(COLUMNS, `visible_at = ${BEHIND} AND starts < 2`);
    this.#suspect = claimable(COLUMNS, 'visible_at <= +? AND starts >= 2');
    this.#suspectInOrder = claimable(`${COLUMNS}, ${KEY_STATE}`, 'visible_at <= +? AND starts >= 2');
    // n.b. OR FAIL: without it an update of several rows keeps a journal of its own, in a file.
    this.#take = db.prepare(`
      UPDATE OR FAIL lazaret_messages
      SET visible_at = ?, token = deliveries + 1, deliveries = deliveries + 1, starts = starts + 1
      WHERE seq BETWEEN ? AND ?`);
    this.#setAside = db.prepare(`UPDATE lazaret_messages SET visible_at = ${BEHIND}, token = 0 WHERE seq = ?`);
    this.#promote = db.prepare(`
      UPDATE lazaret_messages SET visible_at = first_seen
      WHERE visible_at = ${BEHIND}
        AND seq = (SELECT seq FROM lazaret_messages WHERE queue = ? AND key = ? ORDER BY seq LIMIT 1)`);
    this.#promoteHeads = db.prepare(`
      UPDATE lazaret_messages SET visible_at = first_seen
      WHERE visible_at = ${BEHIND} AND seq IN (
        SELECT min(seq) FROM lazaret_messages WHERE queue = ? AND key IS NOT NULL GROUP BY key
      )`);
  }

  /** Up to `max` messages that are due, suspects excepted. */
  take(queue: number, max: number, now: number, leaseEndsAt: number): readonly Row[] {
    const rows = this.#due.all(queue, now, max);
    if (rows.length < max) {
      // Set aside by somebody who consumed in order: that is nobody's business now.
      for (const row of this.#behind.all(queue, max - rows.length)) rows.push(row);
    }
    this.#lease(rows, leaseEndsAt);
    return rows;
  }

  /**
   * Up to `max` messages that are due and the first of their keys, suspects excepted. Those behind another are set aside
   * until `promote`, so that each of them is met once, and not by every claim.
   */
  takeInOrder(queue: number, max: number, now: number, leaseEndsAt: number): readonly Row[] {
    const taken: Row[] = [];
    for (let left = max + LOOK_AHEAD; left > 0; ) {
      const wanted = Math.min(max - taken.length, left);
      const rows = this.#dueInOrder.all(queue, now, wanted);
      const heads: Row[] = [];
      for (const row of rows) {
        if (row[COLUMN.behind] === 1) this.#setAside.run(row[COLUMN.seq] as number);
        else heads.push(row);
      }
      this.#lease(heads, leaseEndsAt);
      for (const row of heads) taken.push(row);
      if (rows.length < wanted || taken.length === max) break;
      left -= rows.length;
    }
    return taken;
  }

  /** One message that is due and whose last two starts had no outcome. */
  takeSuspect(queue: number, inOrder: boolean, now: number, leaseEndsAt: number): Row | undefined {
    const [row] = (inOrder ? this.#suspectInOrder : this.#suspect).all(queue, now, 1);
    if (row === undefined) return undefined;
    if (row[COLUMN.behind] === 1) {
      this.#setAside.run(row[COLUMN.seq] as number);
      return undefined;
    }
    this.#lease([row], leaseEndsAt);
    return row;
  }

  /** The next message of `key` takes its turn, in the place that its age gives it. `true` where one did. */
  promote(queue: number, key: string): boolean {
    return this.#promote.run(queue, key) > 0;
  }

  /** The same for every key, where consumers without order may have taken some away. Walks over all keys: for starts and quiet times. */
  promoteHeads(queue: number): number {
    return this.#promoteHeads.run(queue);
  }

  #lease(rows: readonly Row[], leaseEndsAt: number): void {
    eachRun(rows, seqOf, noToken, (first, last) => this.#take.run(leaseEndsAt, first, last));
  }
}

function seqOf(row: Row): number {
  return row[COLUMN.seq] as number;
}

function noToken(): number {
  return 0;
}
