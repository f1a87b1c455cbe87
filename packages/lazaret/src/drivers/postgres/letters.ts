import { readCursor, writeCursor } from '../../core/cursor.ts';
import type { Evidence } from '../../core/evidence.ts';
import type { Page } from '../../ports/broker.ts';
import type { Letter, LetterBox, LetterQuery, ReleaseResult } from '../../ports/letter-box.ts';
import type { PgRow } from './client.ts';
import type { Database } from './database.ts';
import { loadMessage } from './deliver.ts';
import { explained } from './errors.ts';
import { loadText, storeText } from './text.ts';
import type { WakeUp } from './wake-up.ts';

const COLUMNS = `
  l.seq::float8 AS seq, l.queue, q.name AS queue_name, l.state, l.occurrence, l.evidence, l.deliveries, l.dead_at::float8 AS dead_at,
  l.id, l.key, l.headers, l.native, l.body`;

/** The dead letters of a database. */
export class Letters implements LetterBox {
  readonly #database: Database;
  readonly #wakeUp: WakeUp;
  readonly #from: string;

  constructor(database: Database, wakeUp: WakeUp) {
    this.#database = database;
    this.#wakeUp = wakeUp;
    this.#from = `${database.schema}.letters l JOIN ${database.schema}.queues q ON q.id = l.queue`;
  }

  async list({ queue, after, max }: LetterQuery): Promise<Page<Letter>> {
    const [fromQueue = 0, fromDeadAt = 0, fromSeq = 0] = readCursor(after, 3);
    const text = `
      SELECT ${COLUMNS} FROM ${this.#from}
      WHERE l.state = 'open' AND ($1::text IS NULL OR q.name = $1) AND (l.queue, l.dead_at, l.seq) > ($2::int, $3::bigint, $4::bigint)
      ORDER BY l.queue, l.dead_at, l.seq LIMIT $5`;
    const name = queue === undefined ? null : storeText(queue);
    const rows = await this.#database.read('letters', text, [name, fromQueue, fromDeadAt, fromSeq, max + 1]);
    const page = rows.slice(0, max);
    const last = page.at(-1);
    const items = page.map(loadLetter);
    return rows.length <= max || last === undefined
      ? { items }
      : { items, next: writeCursor([last.queue, last.dead_at, last.seq]) };
  }

  async show(id: string): Promise<Letter | undefined> {
    const seq = seqOf(id);
    if (seq === undefined) return undefined;
    const [row] = await this.#database.read('letter', `SELECT ${COLUMNS} FROM ${this.#from} WHERE l.seq = $1`, [seq]);
    return row === undefined ? undefined : loadLetter(row);
  }

  async release(ids: readonly string[]): Promise<readonly ReleaseResult[]> {
    const results: ReleaseResult[] = [];
    for (const id of ids) results.push(await this.#release(id));
    return results;
  }

  /** One statement: the letter is marked and its message is back, or neither. */
  async #release(id: string): Promise<ReleaseResult> {
    const seq = seqOf(id);
    if (seq === undefined) return { id, result: 'unknown' };
    const { schema, place } = this.#database;
    const text = `
      WITH marked AS (
        UPDATE ${schema}.letters SET state = 'released' WHERE seq = $1 AND state = 'open' RETURNING *
      ), back AS (
        INSERT INTO ${schema}.messages (seq, queue, visible_at, deliveries, first_seen, id, key, headers, native, body)
        SELECT seq, queue, ${schema}.clock_1(), deliveries, first_seen, id, key, headers, native, body FROM marked
      )
      SELECT m.queue, (
        SELECT min(l.seq)::float8 FROM ${schema}.letters l
        WHERE l.queue = m.queue AND l.key = m.key AND l.state = 'open' AND l.seq < m.seq
      ) AS behind FROM marked m`;
    try {
      const [row] = await this.#database.ask('release', text, [seq]);
      if (row === undefined) return { id, result: 'unknown' };
      this.#wakeUp.touched(row.queue as number);
      return row.behind === null ? { id, result: 'released' } : { id, result: 'released', behind: String(row.behind) };
    } catch (error) {
      return { id, result: explained(error, place) };
    }
  }
}

function loadLetter(row: PgRow): Letter {
  return {
    id: String(row.seq),
    queue: loadText(row.queue_name as string),
    state: row.state as Letter['state'],
    occurrence: row.occurrence as number,
    message: loadMessage(row),
    evidence: JSON.parse(row.evidence as string) as Evidence,
    deliveries: row.deliveries as number,
  };
}

/** `undefined` for what cannot be the id of a letter. */
function seqOf(id: string): number | undefined {
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : undefined;
}
