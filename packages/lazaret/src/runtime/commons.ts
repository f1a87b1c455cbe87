import type { StormChange } from '../core/storm/changes.ts';
import {
  CHRONICLE_TTL_MS,
  type Chronicle,
  chronicleKey,
  type Entry,
  entryOf,
  MOST_ENTRIES,
  readChronicle,
  told,
  writeChronicle,
} from '../core/storm/chronicle.ts';
import type { Gate } from '../core/storm/gate.ts';
import {
  commandsBetween,
  lifted,
  ordered,
  ordersKey,
  readOrders,
  type StandingOrder,
} from '../core/storm/standing-orders.ts';
import type { SharedState } from '../ports/shared-state.ts';
import type { System } from '../ports/system.ts';
import { type Alarm, alarm } from './alarm.ts';
import { asError } from './as-error.ts';
import { changeOrders, type OrdersChange } from './change-orders.ts';
import { Fleet } from './fleet.ts';
import { swap } from './swap.ts';
import { until } from './until.ts';

/** Orders are looked for so often at least, and the chronicle is written at most so often. */
const EVERY_MS = 1_000;
/** A store that has not answered for so long is away. */
const PATIENCE_MS = 1_000;
/** Also where nothing has changed: that it lives is news. */
const AT_LEAST_EVERY_MS = 5_000;
/** Ordered here while the store is away. */
const MOST_UNTOLD = 64;

/**
 * What one queue's gate shares with the same queue in other processes: it follows the orders of people, whoever took them, and tells
 * how it stands. A store that is away changes nothing here: the last orders hold until their end, and what is ordered meanwhile is told
 * when it is back.
 */
export class Commons {
  readonly #queue: string;
  readonly #gate: Gate;
  readonly #fleet: Fleet;
  readonly #rounds: Alarm;
  readonly #shared: SharedState | undefined;
  readonly #system: System;
  readonly #process: string;
  readonly #seen: CommonsSeen;
  #orders: readonly StandingOrder[] = [];
  /** What was ordered here and is not known to be written. */
  #untold: readonly OrdersChange[] = [];
  #entries: Entry[] = [];
  #writtenAt = Number.NEGATIVE_INFINITY;
  #meeting = false;
  #isAway = false;
  #ended = false;

  constructor(
    queue: string,
    gate: Gate,
    limits: Limits,
    shared: SharedState | undefined,
    system: System,
    seen: CommonsSeen,
  ) {
    this.#queue = queue;
    this.#gate = gate;
    this.#shared = shared;
    this.#system = system;
    this.#process = system.id();
    this.#seen = seen;
    this.#fleet = new Fleet({ queue, gate, system, process: this.#process, ...limits, changed: () => seen.changed() });
    this.#rounds = alarm(system, () => this.#ring());
  }

  /** Resolves when the orders that stand are followed, or cannot be had. Never rejects. */
  async start(): Promise<void> {
    if (this.#shared !== undefined) await this.#meet(this.#shared);
  }

  /** At the end of a turn: asks the others sooner, where there is something to ask for. */
  look(now: number): void {
    if (this.#shared !== undefined && !this.#meeting && !this.#ended) this.#rounds.by(this.#fleet.nextAt(now));
  }

  /** The orders that this process follows. */
  get orders(): readonly StandingOrder[] {
    return this.#orders.filter(({ untilAt }) => untilAt > this.#system.now());
  }

  record(change: StormChange): void {
    if (this.#shared === undefined || this.#ended) return;
    if (!('learned' in change)) {
      if (this.#entries.length === MOST_ENTRIES) this.#entries.shift();
      this.#entries.push(entryOf(change, this.#process, this.#now()));
    }
    // What a breaker finds out spares the others the finding.
    if (change.what === 'breaker' && !this.#meeting) this.#rounds.by(this.#system.monotonic());
  }

  /** Followed here at once, and by all processes within moments. Rejects where they cannot be told now. */
  give(order: StandingOrder): Promise<void> {
    return this.#change((orders) => ordered(orders, order, this.#now()));
  }

  lift(slot: string): Promise<void> {
    return this.#change((orders) => lifted(orders, slot, this.#now()));
  }

  /** Tells the others that it is gone. Never rejects. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#rounds.stop();
    if (this.#shared === undefined || this.#isAway) return;
    await Promise.allSettled([this.#fleet.leave(this.#shared), this.#write(this.#shared, undefined)]);
  }

  async #change(to: OrdersChange): Promise<void> {
    this.#follow(to(this.#orders));
    if (this.#shared === undefined) return;
    this.#untold = [...this.#untold, to].slice(-MOST_UNTOLD);
    await this.#tell(this.#shared);
  }

  async #tell(shared: SharedState): Promise<void> {
    const untold = this.#untold;
    await changeOrders(shared, this.#queue, (orders) => applied(untold, orders));
    this.#untold = this.#untold.filter((change) => !untold.includes(change));
  }

  #follow(orders: readonly StandingOrder[]): void {
    const now = this.#now();
    const commands = commandsBetween(this.#orders, orders, now);
    this.#orders = orders;
    for (const command of commands) this.#gate.set(command, this.#system.monotonic());
    if (commands.length > 0) this.#seen.changed();
  }

  #ring(): number {
    if (this.#shared !== undefined) void this.#meet(this.#shared);
    return Number.POSITIVE_INFINITY;
  }

  /** One round: what is ordered, what is lent and learnt, then what there is to tell. One at a time, however long the store takes. */
  async #meet(shared: SharedState): Promise<void> {
    if (this.#meeting) return;
    this.#meeting = true;
    try {
      const late = await this.#watch(this.#round(shared));
      if (!late) this.#isAway = false;
    } catch (thrown) {
      this.#away(asError(thrown));
    }
    this.#meeting = false;
    if (this.#ended) return;
    const now = this.#system.monotonic();
    this.#rounds.by(Math.min(now + EVERY_MS, this.#fleet.nextAt(now)));
  }

  /** Waits for a round. Answers whether it was late; meanwhile nobody relies on what it may bring. */
  async #watch(round: Promise<void>): Promise<boolean> {
    let late = false;
    while (!(await until(this.#system, this.#system.monotonic() + PATIENCE_MS, round)) && !this.#ended) {
      late = true;
      this.#away(
        new Error(`the store that the processes of this queue share does not answer within ${PATIENCE_MS} ms`),
      );
    }
    return late;
  }

  async #round(shared: SharedState): Promise<void> {
    if (this.#untold.length > 0) await this.#tell(shared);
    const [orders, ...lent] = await shared.get([ordersKey(this.#queue), ...this.#fleet.keys]);
    if (this.#ended) return;
    this.#follow(applied(this.#untold, readOrders(orders?.value ?? null)));
    await this.#fleet.meet(shared, lent);
    const silentMs = this.#system.monotonic() - this.#writtenAt;
    const hasNews = this.#entries.length > 0 && silentMs >= EVERY_MS;
    if (this.#ended || !(hasNews || silentMs >= AT_LEAST_EVERY_MS)) return;
    await this.#write(shared, this.#gate.view(this.#system.monotonic()));
  }

  /** Told once, until it is back. */
  #away(error: Error): void {
    if (!this.#isAway) this.#seen.trouble(error);
    this.#isAway = true;
    this.#fleet.away(this.#system.monotonic());
  }

  /** What could not be written is told with the next round. */
  async #write(shared: SharedState, view: ReturnType<Gate['view']> | undefined): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    const now = this.#now();
    const say = (chronicle: Chronicle) => {
      const said = told(chronicle, this.#process, view, entries, now);
      this.#fleet.countProcesses(said.processes.length);
      return said;
    };
    const key = chronicleKey(this.#queue);
    let done = false;
    try {
      done = await swap(shared, key, CHRONICLE_TTL_MS, (text) => writeChronicle(say(readChronicle(text))));
    } finally {
      if (done) this.#writtenAt = this.#system.monotonic();
      else this.#entries = [...entries, ...this.#entries].slice(-MOST_ENTRIES);
    }
  }

  #now(): number {
    return Math.round(this.#system.now());
  }
}

export interface Limits {
  readonly concurrency: number;
  readonly globalConcurrency: number | undefined;
}

export interface CommonsSeen {
  /** An order took effect. */
  changed(): void;
  trouble(error: Error): void;
}

function applied(changes: readonly OrdersChange[], orders: readonly StandingOrder[]): readonly StandingOrder[] {
  return changes.reduce((known, change) => change(known), orders);
}
