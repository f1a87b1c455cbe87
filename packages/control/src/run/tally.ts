import type { Evidence } from 'lazaret';
import { type Cause, Causes } from '../quarantine/causes.ts';
import type { LineNames } from './line-names.ts';
import { LineSet } from './line-set.ts';
import type { Lines } from './lines.ts';

/** How a run went. Every line that was read is in exactly one of `done`, `quarantined`, `known`, `waiting` and `unsent`. */
export interface RunSummary {
  readonly input: string;
  readonly queue: string;
  /** Read, without the empty ones. */
  readonly lines: number;
  readonly empty: number;
  readonly done: number;
  /** Among the done: the handler said `ctx.skip`. */
  readonly skipped: number;
  readonly quarantined: number;
  /** Lines that failed at least once and ran again, whatever became of them. */
  readonly retried: number;
  /** Sent by an earlier run into the same file: not run again. */
  readonly known: number;
  /** Sent, and still in the queue, since the run was stopped. */
  readonly waiting: number;
  /** The file did not take them. */
  readonly unsent: number;
  /** Messages of the queue that came from elsewhere and were handled on the way. */
  readonly others: number;
  /** Quarantined lines by cause, the most frequent first. */
  readonly causes: readonly Cause[];
  /** Letters of the queue that are open now, whoever sent them. */
  readonly open: number;
  /** The input was read to its end. */
  readonly complete: boolean;
  /** Complete, and nothing is waiting or unsent. */
  readonly accounted: boolean;
  readonly ms: number;
}

/** What is known when it is over. */
export interface Ending {
  readonly input: string;
  readonly queue: string;
  readonly complete: boolean;
  /** Messages that are still in the queue. */
  readonly inQueue: number;
  readonly open: number;
  readonly ms: number;
}

/** Counts what becomes of the lines of one run. */
export class Tally {
  readonly #names: LineNames;
  readonly #concluded = new LineSet();
  readonly #failed = new LineSet();
  readonly #causes = new Causes();
  #bytesRead = 0;
  #lines = 0;
  #empty = 0;
  #sent = 0;
  #done = 0;
  #skipped = 0;
  #quarantined = 0;
  #retried = 0;
  #others = 0;
  #early: { readonly id: string; readonly count: () => void }[] = [];

  constructor(names: LineNames) {
    this.#names = names;
  }

  /** Sent, and not known to be done or quarantined; lines that an earlier run sent are among them. */
  get open(): number {
    return this.#sent - this.#done - this.#quarantined;
  }

  /** Of the input. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  read({ lines, empty, bytesRead }: Lines): void {
    this.#bytesRead = bytesRead;
    this.#lines += lines.length;
    this.#empty += empty;
    const unread = this.#early;
    this.#early = [];
    for (const { id, count } of unread) this.#conclude(id, count);
  }

  sent(lines: number): void {
    this.#sent += lines;
  }

  done(id: string | undefined, skipped: boolean): void {
    this.#conclude(id, () => {
      this.#done++;
      if (skipped) this.#skipped++;
    });
  }

  quarantined(id: string | undefined, evidence: Pick<Evidence, 'reason' | 'why' | 'fingerprint'>): void {
    this.#conclude(id, () => {
      this.#quarantined++;
      this.#causes.add({ ...evidence, id: id! });
    });
  }

  /** It failed, and will run again. */
  retrying(id: string | undefined): void {
    const line = this.#lineOf(id);
    if (line !== undefined && this.#failed.add(line)) this.#retried++;
  }

  summary({ input, queue, complete, inQueue, open, ms }: Ending): RunSummary {
    const waiting = Math.min(this.open, inQueue);
    const unsent = this.#lines - this.#sent;
    return {
      input,
      queue,
      lines: this.#lines,
      empty: this.#empty,
      done: this.#done,
      skipped: this.#skipped,
      quarantined: this.#quarantined,
      retried: this.#retried,
      known: this.open - waiting,
      waiting,
      unsent,
      others: this.#others + this.#early.length,
      causes: this.#causes.list(),
      open,
      complete,
      accounted: complete && waiting === 0 && unsent === 0,
      ms,
    };
  }

  /** What an earlier run left in the queue may be concluded before its line is read: then it counts when it is. */
  #conclude(id: string | undefined, count: () => void): void {
    const line = id === undefined ? undefined : this.#names.numberOf(id);
    if (line === undefined) this.#others++;
    else if (line > this.#lines + this.#empty) this.#early.push({ id: id!, count });
    else if (this.#concluded.add(line)) count();
  }

  /** A line that has not been read yet was sent by an earlier run; or somebody made up its id. */
  #lineOf(id: string | undefined): number | undefined {
    const line = this.#names.numberOf(id);
    return line !== undefined && line <= this.#lines + this.#empty ? line : undefined;
  }
}
