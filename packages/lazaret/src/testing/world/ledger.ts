import type { Message } from '../../core/message.ts';
import type { Delivery, Settlement } from '../../ports/broker.ts';
import type { Context } from '../../runtime/context.ts';
import type { MessagePlan, QueuePlan, Scenario } from './scenario.ts';

/** Everything that is known of one message, by somebody who sees all processes and the server. */
export interface Life {
  readonly plan: MessagePlan;
  readonly queue: QueuePlan;
  readonly id: string;
  readonly sends: Send[];
  readonly handOuts: HandOut[];
  readonly runs: Run[];
  readonly effects: Run[];
  /** Confirmed dead letters, by the reason that they carry. */
  readonly letters: { readonly at: number; readonly reason: string }[];
  /** What may explain that it is seen again: losses, deaths, lost answers. */
  readonly excuses: string[];
  /** A process has said that it belongs into the dead-letter queue. */
  isCondemned: boolean;
  /** A person has mended what its handler does; storm control had waited for it. */
  isMended: boolean;
  /** Processes that it killed. */
  deaths: number;
  /** Earliest permitted start of an attempt. */
  readonly notBefore: Map<number, number>;
}

export interface Send {
  readonly at: number;
  answer: 'none yet' | 'done' | 'unknown' | 'not stored';
  answeredAt: number | undefined;
}

/** One time that the server gave a message to a process. */
export interface HandOut {
  readonly life: Life;
  readonly process: string;
  readonly at: number;
  /** Asked for as a suspect. */
  readonly alone: boolean;
  readonly attempt: number;
  readonly strikes: number;
  readonly isBlocked: boolean;
  readonly runs: Run[];
  /** The journal has begun it while nothing else ran. */
  begunAlone: boolean;
  /** The journal has said that it was settled before: it is acked unrun. */
  isLeftover: boolean;
  /** Nobody heard whether the server took what was said of it. */
  isUncertain: boolean;
  end: { readonly at: number; readonly how: HandOutEnd } | undefined;
  /** Grows with its heartbeats; Infinity where there are no leases. */
  leaseEndsAt: number;
  /** The server has told the process that it is not its own any more. */
  lossToldAt: number | undefined;
  /** By its own clock the process has taken its lease to be over. */
  isGivenUp: boolean;
}

export type HandOutEnd = 'ack' | 'retry' | 'release' | 'deadLetter' | 'lost' | 'died' | 'left';

/** One time that a handler ran. */
export interface Run {
  readonly handOut: HandOut;
  readonly context: Pick<Context, 'signal'>;
  readonly process: string;
  readonly startedAt: number;
  readonly attempt: number;
  readonly strikes: number;
  /** Grows when the handler is given more time. */
  deadlineAt: number;
  end: { readonly at: number; readonly how: RunEnd } | undefined;
  /** The runtime has given it up. */
  abandonedAt: number | undefined;
  /** It was given up for its deadline, and that costs an attempt. */
  chargedAt: number | undefined;
}

export type RunEnd = 'worked' | 'skipped' | 'failed' | 'aborted' | 'died';

export class Ledger {
  readonly lives: readonly Life[];
  /** Processes that were stopped and went on. */
  readonly stoodStill: Set<string> = new Set();
  readonly #byId = new Map<string, Life>();
  /** n.b. a hand-out is a fresh copy of its message, so its body is its name; the handler sees the same object. */
  readonly #byBody = new WeakMap<Uint8Array, HandOut>();
  readonly #inHand = new Map<string, Set<HandOut>>();
  readonly #active = new Map<string, Set<Run>>();

  readonly #hasLeases: boolean;

  constructor({ messages, queues, server }: Scenario) {
    this.#hasLeases = server.shape === undefined || server.shape === 'table';
    this.lives = messages.map((plan) => newLife(plan, queues[plan.queue]!));
    for (const life of this.lives) this.#byId.set(life.id, life);
  }

  life(id: string | undefined): Life {
    const life = id === undefined ? undefined : this.#byId.get(id);
    if (life === undefined) throw new Error(`a message '${id}' that nobody sent`);
    return life;
  }

  // --- hand-outs --------------------------------------------------------------------------------------------------

  handedOut(at: number, process: string, delivery: Delivery, alone: boolean): HandOut {
    const { message, attempt, strikes = 0, blocked = false } = delivery;
    const life = this.life(message.id);
    const handOut: HandOut = {
      life,
      process,
      at,
      alone,
      attempt,
      strikes,
      isBlocked: blocked,
      runs: [],
      begunAlone: false,
      isLeftover: false,
      isUncertain: false,
      end: undefined,
      leaseEndsAt: this.#hasLeases ? at + (delivery.leaseMs ?? 0) : Number.POSITIVE_INFINITY,
      lossToldAt: undefined,
      isGivenUp: false,
    };
    life.handOuts.push(handOut);
    this.#byBody.set(bodyOf(message), handOut);
    this.inHand(process).add(handOut);
    return handOut;
  }

  handOut(message: { readonly body: Uint8Array | null }): HandOut {
    const handOut = this.#byBody.get(bodyOf(message));
    if (handOut === undefined) throw new Error('a message that was never handed out');
    return handOut;
  }

  /** What the server gave to a process and has not taken back. */
  inHand(process: string): Set<HandOut> {
    return setOf(this.#inHand, process);
  }

  endHandOut(handOut: HandOut, at: number, how: HandOutEnd): void {
    this.inHand(handOut.process).delete(handOut);
    handOut.end ??= { at, how };
    if (how === 'lost' || how === 'died' || how === 'left') handOut.life.excuses.push(how);
  }

  settled(settlement: Settlement, at: number): void {
    const { verb, delivery } = settlement;
    if (verb === 'hold') return;
    const handOut = this.handOut(delivery.message);
    if (verb === 'deadLetter' && !handOut.isUncertain)
      handOut.life.letters.push({ at, reason: settlement.evidence.reason });
    this.endHandOut(handOut, at, verb);
  }

  /** Attempt `attempt` may start at `at`, or earlier where that was promised before. */
  promise({ notBefore }: Life, attempt: number, at: number): void {
    notBefore.set(attempt, Math.min(notBefore.get(attempt) ?? Number.POSITIVE_INFINITY, at));
  }

  // --- runs -------------------------------------------------------------------------------------------------------

  started(at: number, handOut: HandOut, context: Pick<Context, 'attempt' | 'strikes' | 'signal'>): Run {
    const { life, process } = handOut;
    const { attempt, strikes } = context;
    const run: Run = {
      handOut,
      context,
      process,
      startedAt: at,
      attempt,
      strikes,
      deadlineAt: at + life.queue.timeoutMs,
      end: undefined,
      abandonedAt: undefined,
      chargedAt: undefined,
    };
    life.runs.push(run);
    handOut.runs.push(run);
    this.active(process).add(run);
    return run;
  }

  /** Handlers that run in a process, also those that were given up. */
  active(process: string): Set<Run> {
    return setOf(this.#active, process);
  }

  ended(run: Run, at: number, how: RunEnd): void {
    run.end = { at, how };
    this.active(run.process).delete(run);
    if (how === 'worked') run.handOut.life.effects.push(run);
  }

  /** The process is gone, with everything in it. */
  died(process: string, at: number, how: 'died' | 'left'): void {
    for (const run of [...this.active(process)]) this.ended(run, at, 'died');
    for (const handOut of [...this.inHand(process)]) this.endHandOut(handOut, at, how);
  }
}

/** Strikes from which a message runs alone. */
const ALONE_STRIKES = 2;

/** Started as a suspect: nothing may run beside it. */
export function isAlone({ strikes }: Run): boolean {
  return strikes >= ALONE_STRIKES;
}

function messageId(index: number): string {
  return `m${index}`;
}

function newLife(plan: MessagePlan, queue: QueuePlan): Life {
  return {
    plan,
    queue,
    id: messageId(plan.index),
    sends: [],
    handOuts: [],
    runs: [],
    effects: [],
    letters: [],
    excuses: [],
    isCondemned: false,
    isMended: false,
    deaths: 0,
    notBefore: new Map(),
  };
}

function bodyOf({ body }: Pick<Message, 'body'>): Uint8Array {
  if (body === null) throw new Error('a message without its body');
  return body;
}

function setOf<T>(sets: Map<string, Set<T>>, name: string): Set<T> {
  let set = sets.get(name);
  if (set === undefined) {
    set = new Set();
    sets.set(name, set);
  }
  return set;
}
