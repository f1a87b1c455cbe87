/** Progress, not life: a process can be up and do nothing. */
export interface Health {
  /** `false` when a queue has a problem. */
  readonly ok: boolean;
  readonly queues: Readonly<Record<string, QueueHealth>>;
}

export interface QueueHealth {
  readonly ok: boolean;
  readonly state: 'starting' | 'running' | 'stopping' | 'stopped';
  /** Handlers that run. */
  readonly running: number;
  /** Held here for a retry, or until due. */
  readonly held: number;
  /** Waiting behind their key or for a slot. */
  readonly waiting: number;
  /** Settlements handed over and not answered. */
  readonly unsettled: number;
  /** Handlers past their deadline, or whose lease was lost, that still run. */
  readonly abandoned: number;
  /** Messages that wait to run alone. */
  readonly suspects: number;
  readonly counts: Counts;
  /** Epoch milliseconds of the last answered pull, and of the last confirmed settlement. */
  readonly lastPullAt?: number;
  readonly lastSettleAt?: number;
  /** One sentence each. */
  readonly problems: readonly string[];
}

/** What became of the messages of one consumer since it started, as confirmed by the broker. */
export interface Counts {
  readonly done: number;
  readonly retried: number;
  readonly released: number;
  readonly quarantined: number;
  /** Runs whose lease was lost: somebody else has the message. */
  readonly lost: number;
}

/** What a queue's numbers look like when it makes no progress, in words. */
export function problems(seen: {
  abandoned: number;
  concurrency: number;
  unansweredPullMs: number;
  waitMs: number;
}): string[] {
  const found: string[] = [];
  if (seen.abandoned >= seen.concurrency) {
    found.push(
      `${seen.abandoned} handlers passed their deadline and still run, so nothing more is pulled; restart the process and mend the handler`,
    );
  }
  if (seen.unansweredPullMs > 3 * seen.waitMs) {
    found.push(`the broker has not answered a pull for ${Math.round(seen.unansweredPullMs / 1000)} s`);
  }
  return found;
}
