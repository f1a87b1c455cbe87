import { readCursor, writeCursor } from '../../core/cursor.ts';
import type { Evidence } from '../../core/evidence.ts';
import type { Page } from '../../ports/broker.ts';
import type { Letter, LetterBox, LetterQuery, ReleaseResult } from '../../ports/letter-box.ts';
import type { System } from '../../ports/system.ts';
import type { Database, Row, Statement } from '../../sqlite/binding.ts';
import { loadText } from '../../sqlite/text.ts';
import { promised, type Work, type Writer } from '../../sqlite/writer.ts';
import { loadMessage } from './message-columns.ts';
import type { Queues } from './queues.ts';
import type { WakeUp } from './wake-up.ts';

const COLUMNS = `
  l.seq, l.queue, q.name AS queue_name, l.state, l.occurrence, l.evidence, l.deliveries, l.dead_at, l.id, l.key, l.headers, l.native, l.body
  FROM lazaret_letters l JOIN lazaret_queues q ON q.id = l.queue`;

/** The dead letters of a file: burying inside the writer's transaction, and the letter box. */
export class Letters {
  readonly #system: System;
  readonly #queues: Queues;
  readonly #wakeUp: WakeUp;
  readonly #copy: Statement;
  readonly #drop: Statement;
  readonly #page: Statement;
  readonly #one: Statement;
  readonly #open: Statement;
  readonly #putBack: Statement;
  readonly #mark: Statement;
  readonly #earlier: Statement;

  constructor(db: Database, system: System, queues: Queues, wakeUp: WakeUp) {
    this.#system = system;
    this.#queues = queues;
    this.#wakeUp = wakeUp;
    this.#copy = db.prepare(`
      INSERT INTO lazaret_letters (
        seq, queue, state, occurrence, dead_at, reason, fingerprint, why, attempts, strikes, evidence,
        deliveries, first_seen, id, key, headers, native, body
      )
      SELECT seq, queue, 'open', 1, ?, ?, ?, ?, ?, ?, ?, deliveries, first_seen, id, key, headers, native, body
      FROM lazaret_messages WHERE seq = ? AND token = ? AND visible_at > ?
      ON CONFLICT (seq) DO UPDATE SET
        state = 'open', occurrence = occurrence + 1, dead_at = excluded.dead_at, reason = excluded.reason,
        fingerprint = excluded.fingerprint, why = excluded.why, attempts = excluded.attempts,
        strikes = excluded.strikes, evidence = excluded.evidence, deliveries = excluded.deliveries`);
    this.#drop = db.prepare('DELETE FROM lazaret_messages WHERE seq = ?');
    this.#page = db.prepare(`
      SELECT ${COLUMNS}
      WHERE l.queue = ? AND l.state = 'open' AND (l.dead_at, l.seq) > (?, ?) ORDER BY l.dead_at, l.seq LIMIT ?`);
    this.#one = db.prepare(`SELECT ${COLUMNS} WHERE l.seq = ?`);
    this.#open = db.prepare("SELECT queue, key FROM lazaret_letters WHERE seq = ? AND state = 'open'");
    this.#putBack = db.prepare(`
      INSERT INTO lazaret_messages (seq, queue, visible_at, deliveries, first_seen, id, key, headers, native, body)
      SELECT seq, queue, ?, deliveries, first_seen, id, key, headers, native, body FROM lazaret_letters WHERE seq = ?`);
    this.#mark = db.prepare("UPDATE lazaret_letters SET state = 'released' WHERE seq = ?");
    this.#earlier = db.prepare(`
      SELECT seq FROM lazaret_letters WHERE queue = ? AND key = ? AND state = 'open' AND seq < ? ORDER BY seq LIMIT 1`);
  }

  /** Inside a transaction: a message becomes a letter. `false` where it is not ours any more. */
  bury(seq: number, token: number, now: number, evidence: Evidence): boolean {
    const { deadAt, reason, fingerprint, why, attempts, strikes } = evidence;
    const text = JSON.stringify(evidence);
    const copied = this.#copy.run(deadAt, reason, fingerprint, why, attempts, strikes, text, seq, token, now);
    if (copied === 0) return false;
    this.#drop.run(seq);
    return true;
  }

  /** `read` refuses when the broker is closed, and explains what SQLite throws. */
  box(writer: Writer, read: <T>(run: () => T) => T): LetterBox {
    return {
      list: async (query) => read(() => this.#list(query)),
      show: async (id) =>
        read(() => {
          const row = this.#one.get(seqOf(id) ?? -1);
          return row === undefined ? undefined : loadLetter(row);
        }),
      release: async (ids) => read(() => promised((answer) => writer.submit(this.#releasing(ids, answer)))),
    };
  }

  #releasing(ids: readonly string[], answer: (results: readonly ReleaseResult[]) => void): Work {
    const results: ReleaseResult[] = [];
    return {
      kind: 'write',
      durable: true,
      size: ids.length,
      apply: (from, to) => {
        for (let i = from; i < to; i++) results[i] = this.#release(ids[i]!);
      },
      fail: (from, to, error) => {
        for (let i = from; i < to; i++) results[i] = { id: ids[i]!, result: error };
      },
      finish: () => answer(results),
    };
  }

  #list({ queue, after, max }: LetterQuery): Page<Letter> {
    const [fromQueue = 0, fromDeadAt = 0, fromSeq = 0] = readCursor(after, 3);
    const queues = this.#queues.list().filter(({ id, name }) => id >= fromQueue && (queue ?? name) === name);
    const rows: Row[] = [];
    for (const { id } of queues.sort((a, b) => a.id - b.id)) {
      const isFirst = id === fromQueue;
      rows.push(...this.#page.all(id, isFirst ? fromDeadAt : 0, isFirst ? fromSeq : 0, max + 1 - rows.length));
      if (rows.length > max) break;
    }
    const page = rows.slice(0, max);
    const last = page.at(-1);
    const items = page.map(loadLetter);
    return rows.length <= max || last === undefined
      ? { items }
      : { items, next: writeCursor([last[1], last[7], last[0]]) };
  }

  #release(id: string): ReleaseResult {
    const seq = seqOf(id);
    const row = seq === undefined ? undefined : this.#open.get(seq);
    if (seq === undefined || row === undefined) return { id, result: 'unknown' };
    const [queue, key] = row as [number, Row[number]];
    const now = this.#system.now();
    this.#putBack.run(now, seq);
    this.#mark.run(seq);
    this.#wakeUp.touched(queue, now);
    const earlier = key === null ? undefined : this.#earlier.get(queue, key, seq);
    return earlier === undefined ? { id, result: 'released' } : { id, result: 'released', behind: String(earlier[0]) };
  }
}

function loadLetter(row: Row): Letter {
  const [seq, , queue, state, occurrence, evidence, deliveries, , id, key, headers, native, body] = row;
  return {
    id: String(seq),
    queue: loadText(queue as string | Uint8Array),
    state: state as Letter['state'],
    occurrence: occurrence as number,
    message: loadMessage(id!, key!, headers!, native!, body!),
    evidence: JSON.parse(evidence as string) as Evidence,
    deliveries: deliveries as number,
  };
}

/** `undefined` for what cannot be the id of a letter. */
function seqOf(id: string): number | undefined {
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : undefined;
}
