import type { StandingOrder } from '../core/storm/standing-orders.ts';
import type { GateView } from '../core/storm/view.ts';

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
  /** Breakers, limits and what is paused, and why. */
  readonly storm: GateView;
  /** What people ordered, until when, and why. */
  readonly orders: readonly StandingOrder[];
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

export interface Progress {
  readonly abandoned: number;
  readonly concurrency: number;
  /** How long an open pull has not been answered. */
  readonly unansweredPullMs: number;
  readonly waitMs: number;
  /** How long every pull, and every settlement, has failed; 0 while they do not. */
  readonly pullsFailForMs: number;
  readonly settlesFailForMs: number;
}

/** A failure that is shorter passes by itself more often than not. */
const PASSING_MS = 10_000;

/** Why a queue makes no progress, in words; nothing while it does. */
export function problems(seen: Progress): string[] {
  const found: string[] = [];
  if (seen.abandoned >= seen.concurrency) {
    found.push(
      `${seen.abandoned} handlers were given up (deadline or lost lease) and still run, so nothing more is pulled; restart the process and mend the handler`,
    );
  }
  if (seen.unansweredPullMs > 3 * seen.waitMs)
    found.push(`the broker has not answered a pull for ${seconds(seen.unansweredPullMs)}`);
  if (seen.pullsFailForMs > PASSING_MS) found.push(`every pull has failed for ${seconds(seen.pullsFailForMs)}`);
  if (seen.settlesFailForMs > PASSING_MS)
    found.push(`every settlement has failed for ${seconds(seen.settlesFailForMs)}`);
  return found;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
