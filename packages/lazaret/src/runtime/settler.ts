import { stagedAgain } from '../core/placement.ts';
import type { Settlement, SettleResult, Subscription } from '../ports/broker.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';
import type { Bookkeeper } from './bookkeeper.ts';
import type { Run } from './run.ts';

/** What a settlement that arrived, or never will, means is the consumer's business. */
export interface SettlementsSeen {
  settled(run: Run, settlement: Settlement): void;
  lost(run: Run, why: string): void;
  trouble(error: Error): void;
  /** Something is to be settled again. */
  again(): void;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

/**
 * The one settle buffer. What is ready at the end of a loop turn goes out together; nothing waits for a batch to fill.
 * An Error is settled again, ever more slowly, for as long as the lease lasts; a settlement whose lease has ended is not sent at all.
 */
export class Settler {
  readonly #subscription: Subscription;
  readonly #system: System;
  /** Of a journal that is told apart from the settlements. */
  readonly #books: Bookkeeper | undefined;
  readonly #seen: SettlementsSeen;
  readonly #retries = new Set<Cancel>();
  /** What is to be said about them again. */
  readonly #again = new Set<Run>();
  readonly #underWay = new Set<readonly Run[]>();
  /** Their ends are being told to the journal. */
  readonly #booking = new Set<readonly Run[]>();
  #runs: Run[] = [];
  #settlements: Settlement[] = [];
  /** Handed over and not answered yet, waiting to be settled again included. */
  #unanswered = 0;
  #failures = 0;
  #failingSince: number | undefined;
  #ended = false;

  constructor(subscription: Subscription, system: System, books: Bookkeeper | undefined, seen: SettlementsSeen) {
    this.#subscription = subscription;
    this.#system = system;
    this.#books = books;
    this.#seen = seen;
  }

  /** What is answered after it is believed; but where the answer is a failure it is not said again. */
  lossTold(receipts: ReadonlySet<unknown>): void {
    for (const runs of this.#underWay) {
      for (const run of runs) if (receipts.has(run.delivery.receipt)) run.lossTold = true;
    }
  }

  /** About whom something is still to be said. */
  get runs(): readonly Run[] {
    return [...this.#runs, ...[...this.#booking].flat(), ...this.#again];
  }

  get unsettled(): number {
    return this.#settlements.length + this.#unanswered;
  }

  /** Monotonic milliseconds of the first failure since something was confirmed. */
  get failingSince(): number | undefined {
    return this.#failingSince;
  }

  /** Takes the place of whatever was said about the run before. */
  add(run: Run, settlement: Settlement): void {
    if (run.isLost) return;
    run.settlement = settlement;
    this.#runs.push(run);
    this.#settlements.push(settlement);
  }

  /** Hands over what is ready. Resolves when it is answered; never rejects. */
  flush(): Promise<void> | undefined {
    if (this.#settlements.length === 0) return undefined;
    const runs = this.#runs;
    const settlements = this.#settlements;
    this.#runs = [];
    this.#settlements = [];
    this.#dropLate(runs, settlements);
    if (settlements.length === 0) return undefined;
    this.#unanswered += settlements.length;
    return this.#books === undefined
      ? this.#hand(runs, settlements)
      : this.#bookAndHand(this.#books, runs, settlements);
  }

  /** What is not answered by now is not said again: nobody is there to say it to. */
  end(): void {
    this.#ended = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  /** A lease that ended belongs to somebody else by now, as does what was lost: what we would say about it is not said. */
  #dropLate(runs: Run[], settlements: Settlement[]): void {
    const now = this.#subscription.capabilities.lease ? this.#system.monotonic() : Number.NEGATIVE_INFINITY;
    let kept = 0;
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!;
      if (run.leaseEndsAt <= now) this.#seen.lost(run, 'the lease ended before it was settled');
      if (run.isLost) continue;
      runs[kept] = run;
      const settlement = this.#inTime(settlements[i]!);
      // n.b. else it would not be known again when it fails, and never be said again.
      if (run.settlement === settlements[i]) run.settlement = settlement;
      settlements[kept++] = settlement;
    }
    runs.length = kept;
    settlements.length = kept;
  }

  /** What a delivery has left of its wait shrinks while its settlement is said again. */
  #inTime(settlement: Settlement): Settlement {
    const { delayCapAt } = settlement.delivery;
    if (delayCapAt === undefined || (settlement.verb !== 'retry' && settlement.verb !== 'release')) return settlement;
    const { maxDelayMs, delayGrainMs } = this.#subscription.capabilities;
    return stagedAgain(settlement, { maxDelayMs, delayGrainMs, delayCapAt, now: this.#system.now() });
  }

  /** What is lost while the journal is told is not settled any more. */
  async #bookAndHand(books: Bookkeeper, runs: Run[], settlements: Settlement[]): Promise<void> {
    const booked = books.beforeSettling(runs, settlements);
    if (booked !== undefined) {
      this.#booking.add(runs);
      await booked;
      this.#booking.delete(runs);
      this.#unanswered -= settlements.length;
      this.#dropLate(runs, settlements);
      if (settlements.length === 0) return;
      this.#unanswered += settlements.length;
    }
    await this.#hand(runs, settlements);
    void books.flush();
  }

  async #hand(runs: readonly Run[], settlements: readonly Settlement[]): Promise<void> {
    this.#underWay.add(runs);
    let results: readonly SettleResult[];
    try {
      results = await this.#subscription.settle(settlements);
    } catch (thrown) {
      const error = asError(thrown);
      results = settlements.map(() => error);
    }
    this.#underWay.delete(runs);
    this.#unanswered -= settlements.length;
    const failed: number[] = [];
    for (let i = 0; i < runs.length; i++) {
      const result = results[i];
      if (result === 'done') this.#seen.settled(runs[i]!, settlements[i]!);
      else if (result === 'lost' || runs[i]!.lossTold)
        this.#seen.lost(runs[i]!, 'the broker says it is not ours any more');
      else failed.push(i);
    }
    if (failed.length < runs.length) this.#succeeded();
    if (failed.length > 0) this.#failed(runs, settlements, failed, results[failed[0]!]);
  }

  #succeeded(): void {
    this.#failures = 0;
    this.#failingSince = undefined;
  }

  /** What failed together is said again together. */
  #failed(runs: readonly Run[], settlements: readonly Settlement[], failed: readonly number[], result: unknown): void {
    this.#failingSince ??= this.#system.monotonic();
    this.#seen.trouble(
      result instanceof Error ? result : new Error('the driver answered fewer settlements than it was given'),
    );
    if (this.#ended) return;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(this.#failures++, 10), LONGEST_WAIT_MS);
    this.#unanswered += failed.length;
    for (const i of failed) this.#again.add(runs[i]!);
    const cancel = this.#system.after(waitMs * (0.8 + 0.4 * this.#system.random()), () => {
      this.#retries.delete(cancel);
      this.#unanswered -= failed.length;
      for (const i of failed) {
        this.#again.delete(runs[i]!);
        if (runs[i]!.settlement === settlements[i]) this.add(runs[i]!, settlements[i]!);
      }
      this.#seen.again();
    });
    this.#retries.add(cancel);
  }
}
