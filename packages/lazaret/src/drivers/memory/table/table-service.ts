import type { Delivery, Extension, Settlement, SettleResult, SubscribeOptions } from '../../../ports/broker.ts';
import type { Capabilities } from '../../../ports/capabilities.ts';
import type { TableOptions } from '../options.ts';
import type { ServerClock } from '../server-clock.ts';
import { handedCopy, letterCopy, pastOf } from '../stored.ts';
import type { Front, Service } from '../subscription.ts';
import type { Reader, Row, RowReceipt, TableQueue } from './table-queue.ts';

export interface TableParts {
  readonly clock: ServerClock;
  readonly capabilities: Capabilities;
  readonly queue: TableQueue;
  readonly letters: TableQueue;
  readonly wanted: SubscribeOptions;
  readonly options: TableOptions;
}

/** Claims rows, and settles each under the token of its hand-out. */
export class TableService implements Service, Reader {
  readonly pollsOutliveClients?: true;
  readonly alone?: () => Delivery | undefined;
  readonly #parts: TableParts;
  readonly #front: Front;

  constructor(parts: TableParts, front: Front) {
    this.#parts = parts;
    this.#front = front;
    if (parts.options.ghostPolls) this.pollsOutliveClients = true;
    if (parts.capabilities.starts === 'pull') this.alone = () => this.#claimSuspect();
    parts.queue.attach(this);
  }

  take(max: number): readonly Delivery[] {
    const { queue, wanted } = this.#parts;
    return queue.claim(max, wanted.leaseMs, wanted.order).map((row) => this.#handOut(row));
  }

  #claimSuspect(): Delivery | undefined {
    const { queue, wanted } = this.#parts;
    const row = queue.claimSuspect(wanted.leaseMs, wanted.order);
    return row === undefined ? undefined : this.#handOut(row);
  }

  settle(settlement: Settlement): SettleResult {
    const { queue, letters } = this.#parts;
    const row = queue.held(settlement.delivery.receipt as RowReceipt);
    if (row === undefined) return 'lost';
    switch (settlement.verb) {
      case 'ack':
        queue.remove(row);
        return 'done';
      case 'retry':
        queue.charge(row);
        queue.giveBack(row, settlement.delayMs, settlement.notBefore);
        return 'done';
      case 'release':
        queue.giveBack(row, settlement.delayMs, settlement.notBefore);
        return 'done';
      case 'hold':
        if (settlement.charged) queue.charge(row);
        return 'done';
      case 'deadLetter': {
        const { delivery, evidence } = settlement;
        letters.insert(letterCopy(delivery, evidence, delivery.message.id!), 0, {
          queue: queue.name,
          sequence: row.sequence,
        });
        queue.remove(row);
        return 'done';
      }
    }
  }

  extend({ delivery, leaseMs }: Extension): SettleResult {
    const { queue } = this.#parts;
    const row = queue.held(delivery.receipt as RowReceipt);
    if (row === undefined) return 'lost';
    queue.extend(row, leaseMs);
    return 'done';
  }

  #handOut(row: Row): Delivery {
    const { clock, capabilities, queue, wanted, options } = this.#parts;
    const { sequence, message, token, strikes, deliveries } = row;
    const now = clock.now();
    const past = pastOf(message.headers, row.publishedAt, wanted.maxAttempts, now);
    const notBefore = row.notBefore ?? past.notBefore;
    // Where the server counts hand-outs only, that count is the best it can say.
    const charged = capabilities.failures === 'row' ? row.failures : deliveries - 1;
    const receipt: RowReceipt = { sequence, token };
    return {
      message: handedCopy(message),
      source: { queue: queue.name, position: String(sequence) },
      receipt,
      attempt: Math.min(past.attempt + charged, wanted.maxAttempts),
      ...(capabilities.starts === 'pull' ? { strikes } : {}),
      deliveries,
      firstSeenAt: past.firstSeenAt,
      ...(notBefore === undefined ? {} : { notBefore }),
      leaseMs: wanted.leaseMs,
      ...(options.hideCapMs === undefined ? {} : { delayCapAt: Math.floor(now + options.hideCapMs) }),
      ...(wanted.order === 'key' && this.#isBlocked(row) ? { blocked: true } : {}),
    };
  }

  #isBlocked({ message: { key }, sequence }: Row): boolean {
    const { letters, queue } = this.#parts;
    return key !== undefined && letters.blocks(queue.name, key, sequence);
  }

  // --- what the queue tells ---------------------------------------------------------------------------------------

  wake(): void {
    this.#front.wake();
  }

  suspects(waiting: number): void {
    this.#front.suspects(waiting);
  }

  // --- what the connection does: leases outlive it, so nothing is lost with it --------------------------------------

  cut(): void {}

  restored(): void {}

  died(): void {
    this.leave();
  }

  leave(): void {
    this.#parts.queue.detach(this);
  }
}
