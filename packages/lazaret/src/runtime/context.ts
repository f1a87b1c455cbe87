import { parseDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';
import { optionError, shown } from '../core/option-error.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Delivery } from '../ports/broker.ts';
import { dependencyDown } from './dependency-down.ts';
import type { Episode } from './episode.ts';
import type { Run } from './run.ts';

/** What a handler gets beside its message. Returning acknowledges, throwing is classified; anything else is said by name, here. */
export interface Context {
  readonly queue: string;
  /** 1 on the first run; charged failures + 1. */
  readonly attempt: number;
  /** Starts of this message whose process died. */
  readonly strikes: number;
  /** Epoch milliseconds at which the message was first seen. */
  readonly firstSeenAt: number;
  /** Stable over retries and replays: hand it to whatever you call. The message's id, or its position where it has none. */
  readonly idempotencyKey: string;
  /** Aborts on a lost lease, the deadline, or shutdown; after that nothing of this run is settled as its own success. */
  readonly signal: AbortSignal;
  /** Run again after `delay` ('5m'). Charged like a failure, so it ends at `maxAttempts`. */
  retryIn(delay: string, why: string): void;
  /** Into the quarantine, now. */
  quarantine(why: string): void;
  /** Acknowledge without having done it. */
  skip(why: string): void;
  /** Asks for `time` ('2m') more from now: moves the deadline and the lease. `false`: the message is not ours any more. */
  extend(time: string): Promise<boolean>;
  /**
   * Says, before it is called, that this run needs `name` ('payments'): its failures count there, and messages of others flow on while it
   * is down. Throws LZ1209 while nothing may call it: let it through, and the message is given back, uncharged, until it may.
   */
  dependency(name: string): void;
}

/** What a run asks of its consumer. */
export interface Keeper {
  /** `false`: it is not ours any more, or cannot be kept so long. */
  prolong(run: Run, ms: number): Promise<boolean>;
  /** A run turns out to need a dependency. Answers for how long it may not call it, and why; `undefined` where it may. */
  need(run: Run, dependency: string): Refusal | undefined;
}

/** What a run asks for that is gathered, or waits, before its handler is called. */
export interface Timekeeper extends Keeper {
  /** Its handler is not called yet, and no time of its deadline passes. Answers how long it may wait at most, in milliseconds. */
  waits(run: Run): number;
  /** Its handler is called now: its deadline counts from here. `false`: too little time is left, and it has to be given back. */
  begins(run: Run): boolean;
}

export interface Refusal {
  readonly forMs: number;
  readonly why: string;
}

/** The context of one episode: after it, its words are refused and its `extend` answers `false`. */
export class RunContext implements Context {
  readonly #run: Run;
  readonly #keeper: Keeper;
  readonly #episode: Episode;
  readonly #delivery: Delivery;

  constructor(run: Run, keeper: Keeper) {
    this.#run = run;
    this.#keeper = keeper;
    this.#episode = run.episode ?? run.begin();
    this.#delivery = run.delivery;
  }

  get queue(): string {
    return this.#delivery.source.queue;
  }

  get attempt(): number {
    return this.#delivery.attempt;
  }

  get strikes(): number {
    return (this.#delivery.strikes ?? 0) + this.#run.deaths;
  }

  get firstSeenAt(): number {
    return this.#delivery.firstSeenAt;
  }

  get idempotencyKey(): string {
    const { message, source, firstSeenAt } = this.#delivery;
    return message.id ?? `${source.queue}/${source.position ?? firstSeenAt}`;
  }

  get signal(): AbortSignal {
    return this.#episode.signal;
  }

  retryIn(delay: string, why: string): void {
    this.#say({ kind: 'retryIn', delayMs: parseDuration(delay, 'retryIn'), why });
  }

  quarantine(why: string): void {
    this.#say({ kind: 'quarantine', why });
  }

  skip(why: string): void {
    this.#say({ kind: 'skip', why });
  }

  async extend(time: string): Promise<boolean> {
    const ms = parseDuration(time, 'extend');
    return this.#episode.listened && this.#keeper.prolong(this.#run, ms);
  }

  dependency(name: string): void {
    if (typeof name !== 'string' || name === '') {
      throw optionError('LZ1002', 'dependency', `${shown(name)} is no name.`, "Write ctx.dependency('payments').");
    }
    const refusal = this.#episode.listened ? this.#keeper.need(this.#run, name) : undefined;
    if (refusal !== undefined) throw dependencyDown(name, refusal);
  }

  /** The first word stands; another one, or one that comes too late, is the handler's mistake, and is told to it. */
  #say(outcome: Outcome): void {
    const { said, listened } = this.#episode;
    if (!listened) {
      throw new LazaretError('LZ1204', `this run is over, so it cannot say '${outcome.kind}'.`, {
        hint: 'Stop when ctx.signal aborts, and wait for what the handler starts.',
      });
    }
    if (said !== undefined) {
      throw new LazaretError(
        'LZ1204',
        `this run has already said '${said.kind}', so it cannot say '${outcome.kind}'.`,
        {
          hint: 'Name one outcome and return.',
        },
      );
    }
    this.#episode.said = outcome;
  }
}
