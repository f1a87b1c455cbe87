import { LazaretError } from '../core/errors.ts';
import type { Delivery, Settlement } from '../ports/broker.ts';
import type { Capabilities } from '../ports/capabilities.ts';
import type { End, Ending, History, Journal, Start } from '../ports/journal.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';
import type { Run } from './run.ts';
import { until } from './until.ts';

export interface BooksSeen {
  trouble(verb: 'begin' | 'end', error: Error): void;
}

/** A journal that does not answer is waited for so long: nothing starts before it does, but what has ended is settled all the same. */
const PATIENCE_MS = 5_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** Ends that wait for a journal that is away. What is let go of them costs a strike where the process dies as well, and nothing else. */
const ENDS_AT_MOST = 10_000;

/** Whether a broker leaves something for a journal to remember: failures, starts, or crashes that it does not know exactly. */
export function leavesToJournal({ failures, starts, crashEvidence }: Capabilities): boolean {
  return failures === 'journal' || starts === 'journal' || crashEvidence !== 'exact';
}

/**
 * Keeps the starts of one queue in a journal that lives in a store: what begins, and how it ended. Ends go out together, once per batch of
 * settlements; what the journal did not take is said again. Messages without an id are not in it.
 */
export class Bookkeeper implements Pick<Journal, 'begin'> {
  readonly #journal: Journal;
  /** Retries are copies, which carry their charge; else only the journal knows it. */
  readonly #copies: boolean;
  readonly #system: System;
  readonly #seen: BooksSeen;
  /** Ids of what this process has open. */
  readonly #open = new Set<string>();
  #ends: End[] = [];
  #failures = 0;
  /** The last ends were not taken: settlements do not wait for the next ones. */
  #away = false;
  #retry: Cancel | undefined;
  #closed = false;

  constructor(journal: Journal, failures: Capabilities['failures'], system: System, seen: BooksSeen) {
    this.#journal = journal;
    this.#copies = failures === 'copy';
    this.#system = system;
    this.#seen = seen;
  }

  // --- starts -----------------------------------------------------------------------------------------------------

  /** Rejects where the journal is away, or does not answer in time. What it says after that is given back. */
  async begin(starts: readonly Start[]): Promise<readonly History[]> {
    // n.b. what has ended is said first: it may be one of these, come again.
    if (this.#ends.length > 0) void this.flush();
    const asked = starts.map((start) => this.#asked(start));
    const answer = this.#journal.begin(asked);
    let histories: readonly History[] | undefined;
    try {
      const inTime = await until(this.#system, this.#system.monotonic() + PATIENCE_MS, answer);
      if (!inTime) void answer.then((late) => this.#giveBack(asked, late)).catch(() => undefined);
      else histories = await answer;
    } catch (thrown) {
      this.#forget(asked);
      throw thrown;
    }
    if (histories === undefined) {
      this.#forget(asked);
      throw new LazaretError('LZ1121', `the journal did not answer within ${PATIENCE_MS} ms.`, {
        hint: 'Look at its store. Until it answers nothing of this queue starts, and nothing is lost.',
      });
    }
    for (let i = 0; i < asked.length; i++) if (histories[i]?.begun !== true) this.#forget([asked[i]!]);
    return histories;
  }

  /** n.b. two messages of one id: the second is busy, while to the journal the same owner would have lost the first. */
  #asked(start: Start): Start {
    const id = start.delivery.message.id!;
    if (this.#open.has(id)) return { ...start, open: true };
    this.#open.add(id);
    return start;
  }

  #forget(asked: readonly Start[]): void {
    for (const { delivery, open } of asked) if (open !== true) this.#open.delete(delivery.message.id!);
  }

  #giveBack(asked: readonly Start[], late: readonly History[]): void {
    for (let i = 0; i < asked.length; i++) this.endUnrun(asked[i]!.delivery, late[i]);
    void this.flush();
  }

  // --- ends -------------------------------------------------------------------------------------------------------

  /** Begun, and nobody here wants to run it any more. */
  endUnrun(delivery: Delivery, { begun, token }: Partial<History> = {}): void {
    if (begun === true) this.#add(delivery, 'released', token);
  }

  /** Lost while its owner lives. */
  endLost(run: Run): void {
    if (run.token !== undefined) this.#addOf(run, 'released');
  }

  /** Before these are settled: what would be forgotten, and done again, if the process died in between. Never rejects. */
  beforeSettling(runs: readonly Run[], settlements: readonly Settlement[]): Promise<void> | undefined {
    for (let i = 0; i < runs.length; i++) {
      const as = this.#endingBefore(settlements[i]!);
      if (as !== undefined && runs[i]!.token !== undefined) this.#addOf(runs[i]!, as);
    }
    const said = this.flush();
    return this.#away ? undefined : said;
  }

  #endingBefore(settlement: Settlement): Ending | undefined {
    switch (settlement.verb) {
      case 'ack':
        return 'acked';
      case 'release':
        return 'released';
      case 'hold':
        return settlement.charged ? undefined : 'released';
      case 'retry':
      case 'deadLetter':
        return undefined;
    }
  }

  /**
   * After this is settled: what must not be believed before. A delivery whose copy or letter is not there would be acked for nothing, and an
   * attempt that is charged already would start before its wait is over.
   */
  settled(run: Run, { verb }: Settlement): void {
    if (verb === 'deadLetter' && run.delivery.message.id !== undefined) this.#addOf(run, 'dead-lettered');
    else if (run.token === undefined) return;
    else if (verb === 'retry') this.#addOf(run, this.#copies ? 'retried' : 'charged');
    else if (verb === 'hold') this.#addOf(run, 'charged');
  }

  #addOf(run: Run, as: Ending): void {
    const { token } = run;
    run.token = undefined;
    this.#add(run.delivery, as, token);
  }

  #add(delivery: Delivery, as: Ending, token: number | undefined): void {
    this.#open.delete(delivery.message.id!);
    this.#ends.push(token === undefined ? { delivery, as } : { delivery, as, token });
  }

  /** Says what has ended, together. Resolves when it is answered, or was waited for long enough; never rejects. */
  flush(): Promise<void> | undefined {
    if (this.#ends.length === 0) return undefined;
    const ends = this.#ends;
    this.#ends = [];
    this.#retry?.();
    this.#retry = undefined;
    return this.#say(ends);
  }

  async #say(ends: readonly End[]): Promise<void> {
    const answer = (async () => this.#journal.end(ends))();
    try {
      const inTime = await until(this.#system, this.#system.monotonic() + PATIENCE_MS, answer);
      if (!inTime) throw new Error(`the journal did not answer within ${PATIENCE_MS} ms`);
      this.#failures = 0;
      this.#away = false;
    } catch (thrown) {
      answer.catch(() => undefined);
      this.#seen.trouble('end', asError(thrown));
      this.#away = true;
      this.#ends = [...ends, ...this.#ends].slice(-ENDS_AT_MOST);
      this.#sayAgainLater();
    }
  }

  #sayAgainLater(): void {
    if (this.#closed || this.#retry !== undefined) return;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(this.#failures++, 10), LONGEST_WAIT_MS);
    this.#retry = this.#system.after(waitMs * (0.8 + 0.4 * this.#system.random()), () => {
      this.#retry = undefined;
      void this.flush();
    });
  }

  /** Says what is left once more. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.();
    await this.flush();
  }
}
