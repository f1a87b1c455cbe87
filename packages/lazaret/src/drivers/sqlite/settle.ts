import { checkDelay } from '../../core/table-delay.ts';
import type { Extension, Settlement, SettleResult } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { Database, Statement } from '../../sqlite/binding.ts';
import type { Work } from '../../sqlite/writer.ts';
import type { Claims } from './claim.ts';
import type { Letters } from './letters.ts';
import { type Receipt, receiptOf } from './receipt.ts';
import { eachRun } from './runs.ts';
import type { WakeUp } from './wake-up.ts';

/** Ours, and the lease not over: every statement of a settlement begins with it. */
const OURS = 'WHERE seq = ? AND token = ? AND visible_at > ?';

/** Ending leases, and lengthening them, inside the writer's transaction. */
export class Settling {
  readonly #system: System;
  readonly #claims: Claims;
  readonly #letters: Letters;
  readonly #wakeUp: WakeUp;
  readonly #ack: Statement;
  readonly #ackRun: Statement;
  readonly #retry: Statement;
  readonly #release: Statement;
  readonly #holdCharged: Statement;
  readonly #hold: Statement;
  readonly #extend: Statement;

  constructor(db: Database, system: System, claims: Claims, letters: Letters, wakeUp: WakeUp) {
    this.#system = system;
    this.#claims = claims;
    this.#letters = letters;
    this.#wakeUp = wakeUp;
    const update = (set: string) => db.prepare(`UPDATE lazaret_messages SET ${set} ${OURS}`);
    this.#ack = db.prepare(`DELETE FROM lazaret_messages ${OURS}`);
    this.#ackRun = db.prepare(
      'DELETE FROM lazaret_messages WHERE seq BETWEEN ? AND ? AND token = ? AND visible_at > ?',
    );
    this.#retry = update('visible_at = ?, not_before = ?, token = 0, starts = 0, attempt = attempt + 1');
    // Neither attempt nor strike: only the start that this hand-out was is taken back.
    this.#release = update(
      'visible_at = ?, not_before = coalesce(?, not_before), token = 0, starts = max(starts - 1, 0)',
    );
    // The run that failed had an outcome; the one to come is a start again.
    this.#holdCharged = update('attempt = attempt + 1, starts = 1');
    this.#hold = update('starts = starts');
    this.#extend = update('visible_at = ?');
  }

  work(batch: readonly Settlement[], order: 'none' | 'key', answer: (results: readonly SettleResult[]) => void): Work {
    const results: SettleResult[] = new Array(batch.length).fill('done');
    let singly = false;
    const acked: Receipt[] = [];
    return {
      kind: 'write',
      durable: batch.some(({ verb }) => verb === 'retry' || verb === 'deadLetter'),
      size: batch.length,
      apply: (from, to) => {
        const now = this.#system.now();
        acked.length = 0;
        for (let i = from; i < to; i++) {
          const settlement = batch[i]!;
          if (settlement.verb === 'ack' && !singly) acked.push(receiptOf(settlement.delivery));
          else results[i] = this.#settle(settlement, now) ? 'done' : 'lost';
        }
        if (!this.#ackTogether(acked, now)) {
          // Which of them is not ours any more shows only one by one: so it is done the next time.
          singly = true;
          throw new Error('not all of these are ours');
        }
        if (order === 'key') this.#promoteSuccessors(batch, results, from, to, now);
      },
      fail: (from, to, error) => results.fill(error, from, to),
      finish: () => answer(results),
    };
  }

  extension(batch: readonly Extension[], answer: (results: readonly SettleResult[]) => void): Work {
    const results: SettleResult[] = [];
    return {
      kind: 'write',
      durable: false,
      size: batch.length,
      apply: (from, to) => {
        const now = this.#system.now();
        for (let i = from; i < to; i++) {
          const { delivery, leaseMs } = batch[i]!;
          const { seq, token } = receiptOf(delivery);
          results[i] = this.#extend.run(Math.round(now + leaseMs), seq, token, now) > 0 ? 'done' : 'lost';
        }
      },
      fail: (from, to, error) => {
        for (let i = from; i < to; i++) results[i] = error;
      },
      finish: () => answer(results),
    };
  }

  /** `false` where one of them is not ours any more; then nothing may be committed. */
  #ackTogether(acked: Receipt[], now: number): boolean {
    if (!isAscending(acked)) acked.sort((a, b) => a.seq - b.seq);
    let gone = 0;
    eachRun(acked, seqOf, tokenOf, (first, last, token) => {
      gone += first === last ? this.#ack.run(first, token, now) : this.#ackRun.run(first, last, token, now);
    });
    return gone === acked.length;
  }

  #settle(settlement: Settlement, now: number): boolean {
    const { queue, seq, token } = receiptOf(settlement.delivery);
    switch (settlement.verb) {
      case 'ack':
        return this.#ack.run(seq, token, now) > 0;
      case 'retry':
      case 'release': {
        const visibleAt = now + checkDelay(settlement.delayMs);
        const statement = settlement.verb === 'retry' ? this.#retry : this.#release;
        this.#wakeUp.touched(queue, visibleAt);
        return statement.run(visibleAt, settlement.notBefore ?? null, seq, token, now) > 0;
      }
      case 'hold':
        return (settlement.charged ? this.#holdCharged : this.#hold).run(seq, token, now) > 0;
      case 'deadLetter':
        return this.#letters.bury(seq, token, now, settlement.evidence);
    }
  }

  #promoteSuccessors(
    batch: readonly Settlement[],
    results: readonly SettleResult[],
    from: number,
    to: number,
    now: number,
  ): void {
    for (let i = from; i < to; i++) {
      const { verb, delivery } = batch[i]!;
      const { key } = delivery.message;
      if (key === undefined || results[i] !== 'done' || (verb !== 'ack' && verb !== 'deadLetter')) continue;
      const { queue } = receiptOf(delivery);
      if (this.#claims.promote(queue, key)) this.#wakeUp.touched(queue, now);
    }
  }
}

function isAscending(receipts: readonly Receipt[]): boolean {
  for (let i = 1; i < receipts.length; i++) if (receipts[i]!.seq <= receipts[i - 1]!.seq) return false;
  return true;
}

function seqOf(receipt: Receipt): number {
  return receipt.seq;
}

function tokenOf(receipt: Receipt): number {
  return receipt.token;
}
