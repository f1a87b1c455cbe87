import type { Policy } from '../core/policy.ts';
import type { History, Journal } from '../ports/journal.ts';
import { asError } from './as-error.ts';
import type { Run } from './run.ts';

/** What a journal says about a start; acting on it is the consumer's business. */
export interface StartsSeen {
  started(run: Run): void;
  /** Acked, retried or dead-lettered before: a leftover. */
  ended(run: Run): void;
  /** Its owner died twice: it starts only alone. */
  suspect(run: Run): void;
  /** Its owners died so often that it is not started any more. */
  convicted(run: Run): void;
  /** A living owner has it open. */
  busy(run: Run): void;
  /** The journal did not answer; the run was not begun. */
  refused(run: Run): void;
  /** Begun, but it was given back, lost or held meanwhile. */
  tooLate(run: Run, history: History): void;
  trouble(error: Error): void;
}

/** Makes starts durable before handlers run: once per loop turn, together. Where the hand-out itself is the durable start there is nothing to do. */
export class Starter {
  readonly #journal: Pick<Journal, 'begin'> | undefined;
  readonly #needsId: boolean;
  readonly #policy: Pick<Policy, 'aloneStrikes' | 'crashStrikes' | 'maxAttempts'>;
  readonly #seen: StartsSeen;
  #ready: Run[] = [];

  /** `needsId`: the journal knows messages by their ids, so that one without is not kept in it. */
  constructor(
    journal: Pick<Journal, 'begin'> | undefined,
    needsId: boolean,
    policy: Pick<Policy, 'aloneStrikes' | 'crashStrikes' | 'maxAttempts'>,
    seen: StartsSeen,
  ) {
    this.#journal = journal;
    this.#needsId = needsId;
    this.#policy = policy;
    this.#seen = seen;
  }

  /** `true`: it may run at once. `false`: it starts with the next `begin`. */
  start(run: Run): boolean {
    if (this.#journal === undefined || (this.#needsId && run.delivery.message.id === undefined)) return true;
    run.starts++;
    this.#ready.push(run);
    return false;
  }

  /** Never rejects. */
  begin(): Promise<void> | undefined {
    if (this.#journal === undefined || this.#ready.length === 0) return undefined;
    const runs = this.#ready;
    this.#ready = [];
    return this.#begin(this.#journal, runs);
  }

  async #begin(journal: Pick<Journal, 'begin'>, runs: readonly Run[]): Promise<void> {
    const starts = runs.map((run) => run.starts);
    let histories: readonly History[] = [];
    try {
      histories = await journal.begin(runs.map(({ delivery, alone }) => ({ delivery, alone })));
    } catch (thrown) {
      this.#seen.trouble(asError(thrown));
    }
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!;
      const history = histories[i];
      // Given back or lost meanwhile, or held for another run: this answer is about none of these.
      const isLate = run.state !== 'running' || run.starts !== starts[i];
      if (isLate && history !== undefined) this.#seen.tooLate(run, history);
      if (isLate) continue;
      if (history === undefined) this.#seen.refused(run);
      else this.#tell(run, history);
    }
  }

  #tell(run: Run, history: History): void {
    const attempt = Math.min(history.attempt, this.#policy.maxAttempts);
    run.delivery = { ...run.delivery, attempt, strikes: history.strikes };
    run.token = history.token;
    if (history.ended) this.#seen.ended(run);
    else if (history.begun) this.#seen.started(run);
    else if (history.strikes >= this.#policy.crashStrikes) this.#seen.convicted(run);
    // n.b. one that is alone already is not begun because a living owner has it open.
    else if (history.strikes >= this.#policy.aloneStrikes && !run.alone) this.#seen.suspect(run);
    else this.#seen.busy(run);
  }
}
