import type { Cancel, System } from '../../ports/system.ts';
import type { Database } from './database.ts';

const FIRST_MS = 30_000;
const EVERY_MS = 3_600_000;
/** Rows that one statement removes: a long list is worn down in many short ones. */
const ROWS = 500;

/** Forgets what is older than its retention: letters, remembered dedupe ids, what processes shared. */
export class Upkeep {
  readonly #database: Database;
  readonly #system: System;
  readonly #letterRetentionMs: number;
  #timer: Cancel;
  #ended = false;

  constructor(database: Database, system: System, letterRetentionMs: number) {
    this.#database = database;
    this.#system = system;
    this.#letterRetentionMs = letterRetentionMs;
    this.#timer = this.#after(FIRST_MS);
  }

  end(): void {
    this.#ended = true;
    this.#timer();
  }

  /** Not all processes of a service at once. */
  #after(ms: number): Cancel {
    return this.#system.after(ms * (0.5 + this.#system.random()), () => void this.#round());
  }

  async #round(): Promise<void> {
    let removed = 0;
    try {
      removed = await this.sweep();
    } catch {
      // Nobody asked for it: the next round tries again.
    }
    if (!this.#ended) this.#timer = this.#after(removed >= ROWS ? 0 : EVERY_MS);
  }

  /** Answers how many rows went. Rejects with the client's error. */
  async sweep(): Promise<number> {
    const { schema } = this.#database;
    const sweeps = [
      `${schema}.letters WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${schema}.letters WHERE dead_at < ${schema}.clock_1() - $1::bigint LIMIT ${ROWS}))`,
      `${schema}.dedupe WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${schema}.dedupe WHERE expires_at <= ${schema}.clock_1() - $1::bigint LIMIT ${ROWS}))`,
      `${schema}.shared WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${schema}.shared WHERE expires_at <= ${schema}.clock_1() - $1::bigint LIMIT ${ROWS}))`,
    ];
    let removed = 0;
    for (const [at, sweep] of sweeps.entries()) {
      const olderThanMs = at === 0 ? this.#letterRetentionMs : 0;
      const text = `WITH gone AS (DELETE FROM ${sweep} RETURNING 1) SELECT count(*)::int AS gone FROM gone`;
      const [row] = await this.#database.ask(`sweep_${at}`, text, [olderThanMs]);
      removed += row?.gone as number;
    }
    return removed;
  }
}
