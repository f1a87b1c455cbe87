import { readCursor, writeCursor } from '../../core/cursor.ts';
import type { Message } from '../../core/message.ts';
import type { Page, QueueFacts } from '../../ports/broker.ts';
import type { Database } from './database.ts';
import { loadMessage } from './deliver.ts';
import { BEHIND } from './schema.ts';

/** Rows of each kind that are counted; beyond it the number is a lower bound, and says so. */
const COUNTED_AT_MOST = 100_000;

/** Reads about a queue that take nothing and count nothing. */
export class Facts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** What is behind its key is ready: only its turn has not come. */
  async of(queue: number): Promise<QueueFacts> {
    const { schema } = this.#database;
    const count = (where: string) =>
      `(SELECT count(*)::int FROM (SELECT 1 FROM ${schema}.messages, now WHERE queue = $1 AND ${where} LIMIT ${COUNTED_AT_MOST}) c)`;
    const text = `
      WITH now AS (SELECT ${schema}.clock_1() AS ms)
      SELECT
        ${count(`(visible_at <= ms OR visible_at = ${BEHIND})`)} AS ready,
        ${count(`visible_at > ms AND visible_at < ${BEHIND} AND token = 0`)} AS delayed,
        ${count('visible_at > ms AND token > 0')} AS leased,
        (SELECT count(*)::int FROM (
          SELECT 1 FROM ${schema}.letters WHERE queue = $1 AND state = 'open' LIMIT ${COUNTED_AT_MOST}
        ) c) AS dead,
        (SELECT min(first_seen)::float8 FROM (
          SELECT first_seen FROM ${schema}.messages, now WHERE queue = $1 AND visible_at <= ms ORDER BY visible_at LIMIT 100
        ) o) AS oldest`;
    const [row] = await this.#database.read('facts', text, [queue]);
    const { ready, delayed, leased, dead, oldest } = row as Record<string, number> & { readonly oldest: number | null };
    const counts = { ready: ready!, delayed: delayed!, leased: leased!, dead: dead! };
    return {
      ...counts,
      ...(oldest === null ? {} : { oldestAt: oldest }),
      ...(Object.values(counts).some((counted) => counted >= COUNTED_AT_MOST) ? { approximate: true } : {}),
    };
  }

  async browse(queue: number, from: string | undefined, max: number): Promise<Page<Message>> {
    const [visibleAt = -1, seq = -1] = readCursor(from, 2);
    const { schema } = this.#database;
    const either = ['starts < 2', 'starts >= 2'].map(
      (starts) => `(
        SELECT seq, visible_at, id, key, headers, native, body FROM ${schema}.messages
        WHERE queue = $1 AND ${starts} AND (visible_at, seq) > ($2::bigint, $3::bigint) ORDER BY visible_at, seq LIMIT $4
      )`,
    );
    const text = `
      SELECT seq::float8 AS seq, visible_at::float8 AS visible_at, id, key, headers, native, body
      FROM (${either.join(' UNION ALL ')}) e ORDER BY e.visible_at, e.seq LIMIT $4`;
    const rows = await this.#database.read('browse', text, [queue, visibleAt, seq, max + 1]);
    const page = rows.slice(0, max);
    const items = page.map(loadMessage);
    const last = page.at(-1);
    return rows.length <= max || last === undefined
      ? { items }
      : { items, next: writeCursor([last.visible_at, last.seq]) };
  }
}
