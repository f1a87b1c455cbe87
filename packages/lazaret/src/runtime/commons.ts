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
  ORDERS_TTL_MS,
  ordered,
  ordersKey,
  readOrders,
  type StandingOrder,
  writeOrders,
} from '../core/storm/standing-orders.ts';
import type { SharedState } from '../ports/shared-state.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';

/** Orders are looked for so often, and the chronicle is written at most so often. */
const EVERY_MS = 1_000;
/** Also where nothing has changed: that it lives is news. */
const AT_LEAST_EVERY_MS = 5_000;
/** Others write the same text. */
const TRIES = 5;

/**
 * What one queue's gate shares with the same queue in other processes: it follows the orders of people, whoever took them, and tells
 * how it stands. A store that is away changes nothing here: the last orders hold until their end.
 */
export class Commons {
  readonly #queue: string;
  readonly #gate: Gate;
  readonly #shared: SharedState | undefined;
  readonly #system: System;
  readonly #process: string;
  readonly #seen: CommonsSeen;
  #orders: readonly StandingOrder[] = [];
  #entries: Entry[] = [];
  #writtenAt = Number.NEGATIVE_INFINITY;
  #timer: Cancel | undefined;
  #ended = false;

  constructor(queue: string, gate: Gate, shared: SharedState | undefined, system: System, seen: CommonsSeen) {
    this.#queue = queue;
    this.#gate = gate;
    this.#shared = shared;
    this.#system = system;
    this.#process = system.id();
    this.#seen = seen;
  }

  /** Resolves when the orders that stand are followed, or cannot be had. Never rejects. */
  async start(): Promise<void> {
    if (this.#shared !== undefined) await this.#meet(this.#shared);
  }

  /** The orders that this process follows. */
  get orders(): readonly StandingOrder[] {
    return this.#orders.filter(({ untilAt }) => untilAt > this.#system.now());
  }

  record(change: StormChange): void {
    if (this.#shared !== undefined) this.#entries.push(entryOf(change, this.#process, this.#now()));
  }

  /** Followed here at once, and by all processes within moments. Rejects where they cannot be told. */
  give(order: StandingOrder): Promise<void> {
    return this.#change((orders) => ordered(orders, order, this.#now()));
  }

  lift(slot: string): Promise<void> {
    return this.#change((orders) => lifted(orders, slot, this.#now()));
  }

  /** Tells the others that it is gone. Never rejects. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#timer?.();
    if (this.#shared !== undefined) await this.#write(this.#shared, undefined).catch(() => undefined);
  }

  async #change(to: (orders: readonly StandingOrder[]) => readonly StandingOrder[]): Promise<void> {
    this.#follow(to(this.#orders));
    if (this.#shared === undefined) return;
    this.#follow(await changeOrders(this.#shared, this.#queue, to));
  }

  #follow(orders: readonly StandingOrder[]): void {
    const now = this.#now();
    const commands = commandsBetween(this.#orders, orders, now);
    this.#orders = orders;
    for (const command of commands) this.#gate.set(command, this.#system.monotonic());
    if (commands.length > 0) this.#seen.changed();
  }

  /** One round: what is ordered, then what there is to tell. */
  async #meet(shared: SharedState): Promise<void> {
    try {
      const [found] = await shared.get([ordersKey(this.#queue)]);
      if (!this.#ended) this.#follow(readOrders(found?.value ?? null));
      const silentMs = this.#system.monotonic() - this.#writtenAt;
      if (!this.#ended && (this.#entries.length > 0 || silentMs >= AT_LEAST_EVERY_MS)) {
        await this.#write(shared, this.#gate.view(this.#system.monotonic()));
      }
    } catch (thrown) {
      this.#seen.trouble(asError(thrown));
    }
    if (!this.#ended) this.#timer = this.#system.after(EVERY_MS, () => void this.#meet(shared));
  }

  /** What could not be written is told with the next round. */
  async #write(shared: SharedState, view: ReturnType<Gate['view']> | undefined): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    const now = this.#now();
    const say = (chronicle: Chronicle) => told(chronicle, this.#process, view, entries, now);
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

export interface CommonsSeen {
  /** An order took effect. */
  changed(): void;
  trouble(error: Error): void;
}

/** Changes what is ordered of a queue, from any process. Answers what stands then. Rejects where the store is away, or never still. */
export async function changeOrders(
  shared: SharedState,
  queue: string,
  to: (orders: readonly StandingOrder[]) => readonly StandingOrder[],
): Promise<readonly StandingOrder[]> {
  let orders: readonly StandingOrder[] = [];
  const done = await swap(shared, ordersKey(queue), ORDERS_TTL_MS, (text) => {
    orders = to(readOrders(text));
    return writeOrders(orders);
  });
  if (!done) throw new Error('others changed the orders of this queue all the time');
  return orders;
}

async function swap(
  shared: SharedState,
  key: string,
  ttlMs: number,
  change: (text: string | null) => string | null,
): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const [found] = await shared.get([key]);
    const { version, value } = found ?? { version: 0, value: null };
    const wanted = change(value);
    if (wanted === value || (await shared.compareAndSwap(key, version, wanted, ttlMs))) return true;
  }
  return false;
}
