import type { System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';

/** Counted at most so often by those who are never idle. */
const EVERY_MS = 50;

/** How many messages of a queue wait to run alone: told to its consumer whenever the number changes. */
export class Suspects {
  readonly #system: System;
  readonly #count: Statement;
  readonly #queue: number;
  readonly #tell: (waiting: number) => void;
  #told = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(count: Statement, system: System, queue: number, tell: (waiting: number) => void) {
    this.#count = count;
    this.#system = system;
    this.#queue = queue;
    this.#tell = tell;
  }

  look(): void {
    this.#countedAt = this.#system.monotonic();
    const waiting = this.#count.get(this.#queue, this.#system.now())![0] as number;
    if (waiting === this.#told) return;
    this.#told = waiting;
    this.#tell(waiting);
  }

  lookNowAndThen(): void {
    if (this.#system.monotonic() - this.#countedAt >= EVERY_MS) this.look();
  }
}

export function suspectCount(db: Database): Statement {
  return db.prepare('SELECT count(*) FROM lazaret_messages WHERE queue = ? AND starts >= 2 AND visible_at <= ?');
}
