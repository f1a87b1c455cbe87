import type { Settlement, SettleResult, Subscription } from '../ports/broker.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';
import type { Run } from './run.ts';

/** What a settlement that arrived, or never will, means is the consumer's business. */
export interface SettlementsSeen {
  settled(run: Run, settlement: Settlement): void;
  lost(run: Run, why: string): void;
  trouble(error: Error): void;
  /** Something is to be settled again. */
  again(): void;
}

/**
 * The one settle buffer. What is ready at the end of a loop turn goes out together; nothing waits for a batch to fill.
 * An Error is settled again, ever more slowly, for as long as the lease lasts; a settlement whose lease has ended is not sent at all.
 */
export class Settler {
  readonly #subscription: Subscription;
  readonly #system: System;
  readonly #seen: SettlementsSeen;
  #runs: Run[] = [];
  #settlements: Settlement[] = [];
  /** Handed over and not answered yet, waiting to be settled again included. */
  #unanswered = 0;
  #again = 0;
  readonly #retries = new Set<Cancel>();
  #ended = false;

  constructor(subscription: Subscription, system: System, seen: SettlementsSeen) {
    this.#subscription = subscription;
    this.#system = system;
    this.#seen = seen;
  }

  get unsettled(): number {
    return this.#settlements.length + this.#unanswered;
  }

  add(run: Run, settlement: Settlement): void {
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
    return this.#hand(runs, settlements);
  }

  /** A lease that ended belongs to somebody else by now: what we would say about it is not said. */
  #dropLate(runs: Run[], settlements: Settlement[]): void {
    if (!this.#subscription.capabilities.lease) return;
    const now = this.#system.monotonic();
    let kept = 0;
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!;
      if (run.leaseEndsAt <= now) {
        this.#seen.lost(run, 'the lease ended before it was settled');
        continue;
      }
      runs[kept] = run;
      settlements[kept++] = settlements[i]!;
    }
    runs.length = kept;
    settlements.length = kept;
  }

  async #hand(runs: readonly Run[], settlements: readonly Settlement[]): Promise<void> {
    let results: readonly SettleResult[];
    try {
      results = await this.#subscription.settle(settlements);
    } catch (thrown) {
      const error = asError(thrown);
      results = settlements.map(() => error);
    }
    this.#unanswered -= settlements.length;
    let failed: Error | undefined;
    for (let i = 0; i < runs.length; i++) {
      const result = results[i] ?? new Error('the driver answered fewer settlements than it was given');
      if (result === 'done') this.#seen.settled(runs[i]!, settlements[i]!);
      else if (result === 'lost') this.#seen.lost(runs[i]!, 'the broker says it is not ours any more');
      else {
        failed = result;
        this.#later(runs[i]!, settlements[i]!);
      }
    }
    if (failed === undefined) this.#again = 0;
    else this.#seen.trouble(failed);
  }

  /** What is not answered by now is not said again: nobody is there to say it to. */
  end(): void {
    this.#ended = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  #later(run: Run, settlement: Settlement): void {
    if (this.#ended) return;
    const waitMs = Math.min(100 * 2 ** Math.min(this.#again, 10), 10_000) * (0.8 + 0.4 * this.#system.random());
    this.#again++;
    this.#unanswered++;
    const cancel = this.#system.after(waitMs, () => {
      this.#retries.delete(cancel);
      this.#unanswered--;
      this.add(run, settlement);
      this.#seen.again();
    });
    this.#retries.add(cancel);
  }
}
