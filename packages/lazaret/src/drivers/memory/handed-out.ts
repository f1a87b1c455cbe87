import type { Delivery } from '../../ports/broker.ts';
import { Alarm, type ServerClock } from './server-clock.ts';

interface Held {
  readonly delivery: Delivery;
  endsAt: number;
}

/**
 * What the process above holds, by receipt. What is no longer ours is told once, at once, and before a settle of it can fail:
 * whoever finds a settle too late calls `lose` first.
 */
export class HandedOut {
  readonly #held = new Map<unknown, Held>();
  readonly #clock: ServerClock;
  readonly #lost: (deliveries: readonly Delivery[]) => void;
  readonly #alarm: Alarm;

  constructor(clock: ServerClock, lost: (deliveries: readonly Delivery[]) => void) {
    this.#clock = clock;
    this.#lost = lost;
    this.#alarm = new Alarm(clock, () => this.#loseLapsed());
  }

  /** Without `leaseMs` it is ours until somebody says otherwise. */
  add(delivery: Delivery, leaseMs: number = Number.POSITIVE_INFINITY): void {
    const endsAt = this.#clock.now() + leaseMs;
    this.#held.set(delivery.receipt, { delivery, endsAt });
    this.#alarm.by(endsAt);
  }

  extend(receipt: unknown, leaseMs: number): void {
    const held = this.#held.get(receipt);
    if (held === undefined) return;
    held.endsAt = this.#clock.now() + leaseMs;
    this.#watch();
  }

  /** n.b. the alarm stays set, else every message would arm a timer and cancel it. */
  settled(receipt: unknown): void {
    this.#held.delete(receipt);
  }

  /** Those of `receipts` that are still held. */
  lose(receipts: Iterable<unknown>): void {
    const lost: Delivery[] = [];
    for (const receipt of receipts) {
      const held = this.#held.get(receipt);
      if (held === undefined) continue;
      this.#held.delete(receipt);
      lost.push(held.delivery);
    }
    this.#watch();
    if (lost.length > 0) this.#lost(lost);
  }

  loseAll(): void {
    this.lose([...this.#held.keys()]);
  }

  /** Says nothing any more. */
  forget(): void {
    this.#held.clear();
    this.#alarm.off();
  }

  #loseLapsed(): void {
    const now = this.#clock.now();
    const lapsed: unknown[] = [];
    for (const [receipt, { endsAt }] of this.#held) if (endsAt <= now) lapsed.push(receipt);
    this.lose(lapsed);
  }

  /** One timer for all leases; what is settled before its lease ends never moves it. */
  #watch(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { endsAt } of this.#held.values()) next = Math.min(next, endsAt);
    this.#alarm.set(next);
  }
}
