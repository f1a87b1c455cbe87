import type { Evidence } from '../../core/evidence.ts';
import type { Cancel, System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';
import { loadText } from '../../sqlite/text.ts';
import type { Work, Writer } from '../../sqlite/writer.ts';
import type { Claims } from './claim.ts';
import type { Letters } from './letters.ts';
import type { Queues } from './queues.ts';

const FIRST_MS = 30_000;
const EVERY_MS = 3_600_000;
/** Rows that one transaction removes: a long list is worn down in many short ones, with turns for others in between. */
const ROWS = 500;

export interface Retention {
  readonly letterRetentionMs: number;
  readonly messageRetentionMs: number | undefined;
}

/** Forgets what is older than its retention: letters, remembered dedupe ids, and messages that nobody fetched, which become letters. */
export class Upkeep {
  readonly #system: System;
  readonly #writer: Writer;
  readonly #queues: Queues;
  readonly #claims: Claims;
  readonly #letters: Letters;
  readonly #retention: Retention;
  readonly #dropLetters: Statement;
  readonly #dropDedupe: Statement;
  readonly #unfetched: Statement;
  #timer: Cancel;
  #ended = false;

  constructor(
    db: Database,
    system: System,
    writer: Writer,
    queues: Queues,
    claims: Claims,
    letters: Letters,
    retention: Retention,
  ) {
    this.#system = system;
    this.#writer = writer;
    this.#queues = queues;
    this.#claims = claims;
    this.#letters = letters;
    this.#retention = retention;
    this.#dropLetters = db.prepare(`
      DELETE FROM lazaret_letters WHERE seq IN (
        SELECT seq FROM lazaret_letters WHERE queue = ? AND dead_at < ? ORDER BY dead_at LIMIT ${ROWS}
      )`);
    this.#dropDedupe = db.prepare(`
      DELETE FROM lazaret_dedupe WHERE (queue, dedupe_id) IN (
        SELECT queue, dedupe_id FROM lazaret_dedupe WHERE expires_at <= ? ORDER BY expires_at LIMIT ${ROWS}
      )`);
    this.#unfetched = db.prepare(`
      SELECT seq, token, key, attempt, deliveries, first_seen, starts FROM lazaret_messages
      WHERE queue = ? AND starts < 2 AND visible_at < ? ORDER BY visible_at LIMIT ${ROWS}`);
    this.#timer = system.after(FIRST_MS, this.#start);
  }

  end(): void {
    this.#ended = true;
    this.#timer();
  }

  readonly #start = (): void => this.#writer.submit(this.#work());

  #work(): Work {
    let removed = 0;
    return {
      kind: 'write',
      durable: this.#retention.messageRetentionMs !== undefined,
      size: 1,
      apply: () => {
        const now = this.#system.now();
        removed = this.#dropDedupe.run(now);
        for (const { id, name } of this.#queues.list()) {
          removed += this.#dropLetters.run(id, now - this.#retention.letterRetentionMs);
          removed += this.#expire(id, name, now);
        }
      },
      // Nobody asked for it: the next round tries again.
      fail: () => {},
      finish: () => {
        if (!this.#ended) this.#timer = this.#system.after(removed === 0 ? EVERY_MS : 0, this.#start);
      },
    };
  }

  #expire(queue: number, name: string, now: number): number {
    const { messageRetentionMs } = this.#retention;
    if (messageRetentionMs === undefined) return 0;
    const rows = this.#unfetched.all(queue, now - messageRetentionMs);
    for (const [seq, token, key, attempt, deliveries, firstSeenAt, strikes] of rows) {
      const evidence: Evidence = {
        reason: 'expired',
        queue: name,
        attempts: (attempt as number) - 1,
        strikes: strikes as number,
        firstSeenAt: firstSeenAt as number,
        deadAt: now,
        fingerprint: 'v1:expired',
        why: 'nobody fetched it within the retention',
        position: `row ${seq}`,
        deliveries: deliveries as number,
      };
      this.#letters.bury(seq as number, token as number, -1, evidence);
      if (key !== null) this.#claims.promote(queue, loadText(key as string | Uint8Array));
    }
    return rows.length;
  }
}
