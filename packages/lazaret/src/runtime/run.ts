import type { Outcome } from '../core/outcome.ts';
import type { Passage } from '../core/storm/gate.ts';
import type { Scope } from '../core/storm/scope.ts';
import type { Delivery, Settlement } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import { Episode } from './episode.ts';

/**
 * waiting: behind another of its key, or for a slot. held: here until its due time. running: it has a slot.
 * over: its settlement is handed over, or it is not ours any more.
 */
export type RunState = 'waiting' | 'held' | 'running' | 'over';

/** One delivery in our hands: the only mutable thing the runtime keeps per message. Times are monotonic ms; Infinity where there is none. */
export class Run implements Passage {
  /** Replaced when the message is held: the next run here is the next attempt. */
  delivery: Delivery;
  state: RunState = 'waiting';
  /** Started while nothing else of this process is started or unsettled. */
  alone = false;
  readonly pulledAt: number;
  leaseEndsAt: number = Number.POSITIVE_INFINITY;
  /** When the lease is lengthened next. */
  beatAt: number = Number.POSITIVE_INFINITY;
  /** Beyond it a broker without leases takes back what is held. */
  capAt: number = Number.POSITIVE_INFINITY;
  /** When the handler started, and must be done. */
  startedAt = 0;
  deadlineAt: number = Number.POSITIVE_INFINITY;
  /** When a held run starts again. */
  dueAt: number = Number.POSITIVE_INFINITY;
  /** Its place among what the watch holds; -1 outside. */
  at = -1;
  /** Counts the times it was to start, so that a late answer about an earlier start is not taken for this one's. */
  starts = 0;
  /** Of the start that a journal in a store has open for it. */
  token: number | undefined;
  /** The handler's run, while it is listened to. */
  episode: Episode | undefined;
  /** Children of an isolated consumer that died of it, here. */
  deaths = 0;
  /** How the last run ended, for what is told once the settlement is confirmed. */
  outcome: Outcome | undefined;
  /** Why its failure costs it nothing; empty where it does. */
  uncharged = '';
  dependency: string | undefined;
  /** It was pulled for what storm control admitted. */
  admitted = false;
  /** Storm control's own: where it runs, and since when. */
  scope: Scope | undefined;
  enteredAt = 0;
  /** What was last handed over about it; an older word is not said again. */
  settlement: Settlement | undefined;
  /** Somebody else has it, or will have it: nothing is said about it any more. */
  isLost = false;
  /** Its loss was told while a settlement of it was under way. */
  lossTold = false;
  /** Its end is confirmed. */
  confirmed = false;
  /** A heartbeat under way. */
  extending: Promise<unknown> | undefined;
  #drawId: string | undefined;

  constructor(delivery: Delivery, pulledAt: number) {
    this.delivery = delivery;
    this.pulledAt = pulledAt;
  }

  /** Its id, by which storm control tells messages apart. */
  get message(): string | undefined {
    return this.delivery.message.id;
  }

  get attempt(): number {
    return this.delivery.attempt;
  }

  /** A handler starts. What an earlier one still says is not heard. */
  begin(): Episode {
    this.episode = new Episode();
    return this.episode;
  }

  /** Its handler runs, and is listened to. */
  get performing(): boolean {
    return this.episode?.listened === true;
  }

  get aborted(): boolean {
    return this.episode?.aborted === true;
  }

  get signal(): AbortSignal {
    return (this.episode ?? this.begin()).signal;
  }

  /** What the handler said by name. */
  get said(): Outcome | undefined {
    return this.episode?.said;
  }

  abort(reason: Error): void {
    this.episode?.abort(reason);
  }

  /** What its jitter is drawn from: its id, so that any schedule can be recomputed; a random one where it has none. */
  drawId(system: System): string {
    this.#drawId ??= this.delivery.message.id ?? system.id();
    return this.#drawId;
  }

  /** The next run of a held delivery. A failure is an outcome, and clears its strikes where these are exact. */
  again(charged: boolean, strikesAreExact: boolean): void {
    if (charged) this.delivery = { ...this.delivery, attempt: this.delivery.attempt + 1 };
    if (charged && strikesAreExact) {
      this.delivery = { ...this.delivery, strikes: 0 };
      this.alone = false;
    }
    this.episode = undefined;
    this.deadlineAt = Number.POSITIVE_INFINITY;
  }
}
