import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import { headerText, NO_HEADERS } from '../../core/message.ts';
import { checkMessage, storeHeaders, storeNative } from '../../core/stored-message.ts';
import type { OutgoingMessage, PublishResult } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { Database, Parameter, Statement } from '../../sqlite/binding.ts';
import { asError } from '../../sqlite/errors.ts';
import type { Work } from '../../sqlite/writer.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { Queues } from './queues.ts';
import type { WakeUp } from './wake-up.ts';

/** Attempts are clamped to the consumer's maximum when they are handed out; this only keeps the number small. */
const HIGHEST_ATTEMPT = 1_000_000;
/** No due time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;

const COLUMNS = 'seq, queue, visible_at, attempt, first_seen, not_before, id, key, headers, native, body';
const COLUMN_COUNT = 11;
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/** A statement costs as much as a row: with so many rows in one, publishing takes half the time. */
const ROWS_TOGETHER = 20;

/** Storing messages, inside the writer's transaction. */
export class Publishing {
  readonly #system: System;
  readonly #queues: Queues;
  readonly #wakeUp: WakeUp;
  readonly #dedupeWindowMs: number;
  readonly #nextSeq: Statement;
  readonly #setNextSeq: Statement;
  readonly #insert: Statement;
  readonly #insertMany: Statement;
  readonly #remember: Statement;

  constructor(db: Database, system: System, queues: Queues, wakeUp: WakeUp, dedupeWindowMs: number) {
    this.#system = system;
    this.#queues = queues;
    this.#wakeUp = wakeUp;
    this.#dedupeWindowMs = dedupeWindowMs;
    // AUTOINCREMENT does the same, but once per row.
    this.#nextSeq = db.prepare('SELECT next FROM lazaret_sequence');
    this.#setNextSeq = db.prepare('UPDATE lazaret_sequence SET next = ?');
    const insert = `INSERT INTO lazaret_messages (${COLUMNS}) VALUES`;
    this.#insert = db.prepare(`${insert} ${ROW}`);
    this.#insertMany = db.prepare(`${insert} ${new Array(ROWS_TOGETHER).fill(ROW).join(', ')}`);
    // Changes nothing, and so answers 0, where the id is remembered still.
    this.#remember = db.prepare(`
      INSERT INTO lazaret_dedupe (queue, dedupe_id, expires_at) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= ?`);
  }

  work(
    queue: string,
    messages: readonly OutgoingMessage[],
    delayMs: number,
    answer: (results: PublishResult[]) => void,
  ): Work {
    const results = messages.map(refusal);
    return {
      kind: 'write',
      durable: true,
      size: messages.length,
      apply: (from, to) => this.#store(queue, messages, delayMs, results, from, to),
      fail: (from, to, error) => results.fill(error, from, to),
      finish: () => {
        this.#queues.find(queue);
        answer(results);
      },
    };
  }

  #store(
    queueName: string,
    messages: readonly OutgoingMessage[],
    delayMs: number,
    results: readonly PublishResult[],
    from: number,
    to: number,
  ): void {
    const now = this.#system.now();
    const queue = this.#queues.findOrCreate(queueName);
    const first = this.#nextSeq.get()![0] as number;
    const rows: Parameter[] = [];
    let seq = first;
    for (let i = from; i < to; i++) {
      const message = messages[i]!;
      if (results[i] !== 'done' || this.#isDuplicate(queue, message, now)) continue;
      this.#addRow(rows, seq++, queue, message, now, now + delayMs);
      if (rows.length < ROWS_TOGETHER * COLUMN_COUNT) continue;
      this.#insertMany.run(...rows);
      rows.length = 0;
    }
    for (let at = 0; at < rows.length; at += COLUMN_COUNT) this.#insert.run(...rows.slice(at, at + COLUMN_COUNT));
    if (seq === first) return;
    this.#setNextSeq.run(seq);
    this.#wakeUp.touched(queue, now + delayMs);
  }

  #isDuplicate(queue: number, { dedupeId }: OutgoingMessage, now: number): boolean {
    return dedupeId !== undefined && this.#remember.run(queue, dedupeId, now + this.#dedupeWindowMs, now) === 0;
  }

  /** n.b. one flat list of parameters: to build it from a list per row costs a quarter of the whole. */
  #addRow(
    rows: Parameter[],
    seq: number,
    queue: number,
    message: OutgoingMessage,
    now: number,
    visibleAt: number,
  ): void {
    const { body, key = null, headers = NO_HEADERS } = message;
    const native = storeNative(message.native);
    if (headers.length === 0) {
      rows.push(seq, queue, visibleAt, 1, now, null, message.id ?? this.#system.id(), key, null, native, body);
      return;
    }
    rows.push(
      seq,
      queue,
      visibleAt,
      readAttempt(headers, HIGHEST_ATTEMPT),
      readTime(headers, HEADER.firstSeen, 0, now) ?? now,
      readTime(headers, HEADER.notBefore, now, now + FURTHEST_MS) ?? null,
      message.id ?? headerText(headers, HEADER.id) ?? this.#system.id(),
      key,
      storeHeaders(headers),
      native,
      body,
    );
  }
}

/** Why a message cannot be stored, or 'done' for one that is only to be. */
function refusal(message: OutgoingMessage): PublishResult {
  try {
    checkMessage(message, CAPABILITIES.headerBudgetBytes);
    return 'done';
  } catch (error) {
    return asError(error);
  }
}
