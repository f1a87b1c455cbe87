import type { Cancel, System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';

/** No write for so long is a pause. */
const PAUSE_MS = 50;

/** Moves the write-ahead log into the database while nobody writes, so that hardly any commit has to do it. */
export class Checkpoints {
  readonly #system: System;
  readonly #move: Statement;
  readonly #empty: Statement;
  #writes = 0;
  #seen = 0;
  #timer: Cancel | undefined;

  constructor(db: Database, system: System) {
    this.#system = system;
    // PASSIVE waits for nobody: what a reader still needs stays in the log until next time.
    this.#move = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#empty = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** n.b. once per transaction: no timer of its own. */
  wrote(): void {
    this.#writes++;
    this.#timer ??= this.#system.after(PAUSE_MS, this.#look);
  }

  /** Before the file is closed: whoever copies it then, finds everything in it. Not while others have it open. */
  end(): void {
    this.#timer?.();
    this.#try(this.#empty);
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#writes !== this.#seen) {
      this.#seen = this.#writes;
      this.#timer = this.#system.after(PAUSE_MS, this.#look);
      return;
    }
    this.#try(this.#move);
  };

  /** What is wrong with the database shows at the next write, where it can be told. */
  #try(checkpoint: Statement): void {
    try {
      checkpoint.get();
    } catch {}
  }
}
