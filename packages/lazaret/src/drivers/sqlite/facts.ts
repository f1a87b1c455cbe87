import { readCursor, writeCursor } from '../../core/cursor.ts';
import type { Message } from '../../core/message.ts';
import type { Page, QueueFacts } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { Database, Row, Statement } from '../../sqlite/binding.ts';
import { loadMessage } from './message-columns.ts';
import { BEHIND } from './schema.ts';

/** Rows not due yet among which leased ones are told from delayed ones; beyond it what is leased is a lower bound. */
const LOOKED_AT = 20_000;

/** Both partial indexes together hold every message once, each in the order of `visible_at`. */
const EITHER = (sql: (starts: string) => string) => `${sql('starts < 2')} UNION ALL ${sql('starts >= 2')}`;

/** Reads about a queue that take nothing and count nothing. */
export class Facts {
  readonly #system: System;
  readonly #ready: Statement;
  readonly #behind: Statement;
  readonly #later: Statement;
  readonly #leased: Statement;
  readonly #oldest: Statement;
  readonly #dead: Statement;
  readonly #page: Statement;

  constructor(db: Database, system: System) {
    this.#system = system;
    const count = (where: string) =>
      db.prepare(
        EITHER((starts) => `SELECT count(*) FROM lazaret_messages WHERE queue = ? AND ${starts} AND ${where}`),
      );
    this.#ready = count('visible_at <= ?');
    this.#behind = count(`visible_at = ${BEHIND}`);
    this.#later = count(`visible_at > ? AND visible_at < ${BEHIND}`);
    // Leases end soon, so they stand before what is delayed for long.
    this.#leased = db.prepare(
      EITHER(
        (starts) => `
        SELECT count(*) FROM (
          SELECT token FROM lazaret_messages
          WHERE queue = ? AND ${starts} AND visible_at > ? AND visible_at < ${BEHIND}
          ORDER BY visible_at LIMIT ${LOOKED_AT}
        ) WHERE token > 0`,
      ),
    );
    this.#oldest = db.prepare(
      EITHER(
        (starts) =>
          `SELECT min(first_seen) FROM (SELECT first_seen FROM lazaret_messages
          WHERE queue = ? AND ${starts} AND visible_at <= ? ORDER BY visible_at LIMIT 100)`,
      ),
    );
    this.#dead = db.prepare("SELECT count(*) FROM lazaret_letters WHERE queue = ? AND state = 'open'");
    this.#page = db.prepare(`
      ${EITHER(
        (starts) => `
        SELECT seq, visible_at, id, key, headers, native, body FROM lazaret_messages
        WHERE queue = ? AND ${starts} AND (visible_at, seq) > (?, ?)`,
      )} ORDER BY visible_at, seq LIMIT ?`);
  }

  /** What is behind its key is ready: only its turn has not come. */
  of(queue: number): QueueFacts {
    const now = this.#system.now();
    const ready = sum(this.#ready.all(queue, now, queue, now));
    const later = sum(this.#later.all(queue, now, queue, now));
    const leased = later === 0 ? 0 : sum(this.#leased.all(queue, now, queue, now));
    const oldest = this.#oldest.all(queue, now, queue, now).flatMap(([at]) => (at === null ? [] : [at as number]));
    return {
      ready: ready + sum(this.#behind.all(queue, queue)),
      delayed: later - leased,
      leased,
      dead: sum(this.#dead.all(queue)),
      ...(oldest.length === 0 ? {} : { oldestAt: Math.min(...oldest) }),
      ...(later > LOOKED_AT ? { approximate: true } : {}),
    };
  }

  browse(queue: number, from: string | undefined, max: number): Page<Message> {
    const [visibleAt = -1, seq = -1] = readCursor(from, 2);
    const rows = this.#page.all(queue, visibleAt, seq, queue, visibleAt, seq, max + 1);
    const page = rows.slice(0, max);
    const items = page.map(([, , id, key, headers, native, body]) => loadMessage(id!, key!, headers!, native!, body!));
    const last = page.at(-1);
    return rows.length <= max || last === undefined ? { items } : { items, next: writeCursor([last[1], last[0]]) };
  }
}

function sum(rows: readonly Row[]): number {
  return rows.reduce((total, [count]) => total + (count as number), 0);
}
