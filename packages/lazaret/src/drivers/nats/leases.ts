import type { System } from '../../ports/system.ts';
import type { Receipt } from './receipt.ts';

/** Leases that end together are told together, and one that is always about to end does not fill the loop. */
const SHORTEST_WAIT_MS = 5;

/** Watches what is handed out, with one timer: keeps up what is wanted longer than the server leases, and tells at once what has run out. */
export class Leases {
  readonly #system: System;
  readonly #leaseMs: number;
  readonly #extend: (receipts: readonly Receipt[]) => void;
  readonly #lost: (receipts: readonly Receipt[]) => void;
  readonly #out = new Set<Receipt>();
  #cancel: (() => void) | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(
    system: System,
    leaseMs: number,
    extend: (receipts: readonly Receipt[]) => void,
    lost: (receipts: readonly Receipt[]) => void,
  ) {
    this.#system = system;
    this.#leaseMs = leaseMs;
    this.#extend = extend;
    this.#lost = lost;
  }

  /** n.b. the server's clock began earlier than ours: what comes again while we hold it is lost, whatever ours says. */
  add(receipt: Receipt, now: number): void {
    if (receipt.deliveries > 1) this.#loseEarlier(receipt);
    this.#out.add(receipt);
    this.#wakeAt(this.#nextOf(receipt), now);
  }

  #loseEarlier({ sequence, storedAt }: Receipt): void {
    for (const earlier of this.#out) {
      if (earlier.sequence !== sequence || earlier.storedAt !== storedAt) continue;
      earlier.state = 'closed';
      this.#out.delete(earlier);
      this.#lost([earlier]);
    }
  }

  drop(receipt: Receipt): void {
    this.#out.delete(receipt);
  }

  /** The server counts anew from `now`. */
  extended(receipt: Receipt, now: number, wantedMs: number): void {
    receipt.leaseEndsAt = now + this.#leaseMs;
    receipt.wantedUntil = now + wantedMs;
    this.#wakeAt(this.#nextOf(receipt), now);
  }

  /** Takes out what has run out, and tells it. */
  check(now: number): void {
    const lost: Receipt[] = [];
    const wanting: Receipt[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const receipt of this.#out) {
      if (receipt.leaseEndsAt <= now) {
        receipt.state = 'closed';
        this.#out.delete(receipt);
        lost.push(receipt);
        continue;
      }
      if (this.#nextOf(receipt) <= now) {
        receipt.leaseEndsAt = now + this.#leaseMs;
        wanting.push(receipt);
      }
      next = Math.min(next, this.#nextOf(receipt));
    }
    if (lost.length > 0) this.#lost(lost);
    if (wanting.length > 0) this.#extend(wanting);
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next, now);
  }

  end(): void {
    this.#cancel?.();
    this.#wakesAt = Number.POSITIVE_INFINITY;
    this.#out.clear();
  }

  /** When something has to be done about it: half a lease before its end, or at it. */
  #nextOf({ leaseEndsAt, wantedUntil }: Receipt): number {
    return wantedUntil > leaseEndsAt ? leaseEndsAt - this.#leaseMs / 2 : leaseEndsAt;
  }

  #wakeAt(at: number, now: number): void {
    if (at >= this.#wakesAt) return;
    this.#cancel?.();
    this.#wakesAt = at;
    this.#cancel = this.#system.after(Math.max(SHORTEST_WAIT_MS, Math.ceil(at - now)), () => {
      this.#wakesAt = Number.POSITIVE_INFINITY;
      this.check(this.#system.monotonic());
    });
  }
}
