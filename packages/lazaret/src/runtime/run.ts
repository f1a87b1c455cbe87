import type { Outcome } from '../core/outcome.ts';
import type { Delivery } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';

/**
 * waiting: behind another of its key, or for a slot. held: here until its due time. running: its handler runs.
 * over: its settlement is handed over, or it is not ours any more.
 */
export type RunState = 'waiting' | 'held' | 'running' | 'over';

/** One delivery in our hands: the only mutable thing the runtime keeps per message. */
export class Run {
  /** Replaced when the message is held: the next run here is the next attempt. */
  delivery: Delivery;
  state: RunState = 'waiting';
  /** Started while nothing else of this process is started or unsettled. */
  alone: boolean;
  // Times are monotonic milliseconds; Infinity where there is none.
  readonly pulledAt: number;
  leaseEndsAt: number = Number.POSITIVE_INFINITY;
  /** When the lease is lengthened next. */
  beatAt: number = Number.POSITIVE_INFINITY;
  deadlineAt: number = Number.POSITIVE_INFINITY;
  /** When a held run starts again. */
  dueAt: number = Number.POSITIVE_INFINITY;
  /** Counts the runs of this delivery here: a handler of an earlier one is not listened to. */
  episode = 0;
  /** Its handler runs, and is listened to. */
  performing = false;
  /** Children of an isolated consumer that died of it, here. */
  deaths = 0;
  /** What the handler said by name. */
  said: Outcome | undefined;
  /** How the last run ended, for what is told once the settlement is confirmed. */
  outcome: Outcome | undefined;
  /** A heartbeat under way. */
  extending: Promise<void> | undefined;
  #drawId: string | undefined;
  #abort: AbortController | undefined;
  #abortedFor: Error | undefined;

  constructor(delivery: Delivery, pulledAt: number, alone: boolean) {
    this.delivery = delivery;
    this.pulledAt = pulledAt;
    this.alone = alone;
  }

  /** Made when a handler first asks: most never do, and a controller costs more than the rest of the bookkeeping. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortedFor !== undefined) this.#abort.abort(this.#abortedFor);
    }
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abortedFor !== undefined;
  }

  abort(reason: Error): void {
    if (this.#abortedFor !== undefined) return;
    this.#abortedFor = reason;
    this.#abort?.abort(reason);
  }

  /** What its jitter is drawn from: its id, so that any schedule can be recomputed; a random one where it has none. */
  drawId(system: System): string {
    this.#drawId ??= this.delivery.message.id ?? system.id();
    return this.#drawId;
  }

  /** The next run of a held delivery: charged or not, with nothing said yet. */
  again(charged: boolean): void {
    if (charged) this.delivery = { ...this.delivery, attempt: this.delivery.attempt + 1 };
    this.episode++;
    this.performing = false;
    this.said = undefined;
    this.#abort = undefined;
    this.#abortedFor = undefined;
  }
}
