import type { BudgetNumbers } from './numbers.ts';
import { Tally } from './tally.ts';

const BUCKETS = 10;

/**
 * What retries may cost in all, so that they never become most of the load: successes earn, retries pay. An empty budget
 * refuses nothing; it says how long a retry waits until its tokens are earned, as fast as they have been lately, while fresh work
 * goes on.
 */
export class RetryBudget {
  readonly #numbers: BudgetNumbers;
  readonly #successes: Tally = new Tally(BUCKETS);
  /** Below 0: what retries that wait have been promised. */
  #tokens: number;
  #at: number;

  constructor(numbers: BudgetNumbers, now: number) {
    this.#numbers = numbers;
    this.#tokens = numbers.tokens;
    this.#at = now;
  }

  tokens(now: number): number {
    const { tokens, perSecond } = this.#numbers;
    const elapsedMs = Math.max(0, now - this.#at);
    this.#at = now;
    this.#owe(Math.min(tokens, this.#tokens + (elapsedMs * perSecond) / 1000), now);
    return this.#tokens;
  }

  /** A retry is scheduled: milliseconds that it must wait for the budget, 0 where it is paid at once. */
  spend(cost: number, now: number): number {
    if (cost <= 0) return 0;
    const left = this.tokens(now) - cost;
    this.#owe(left, now);
    return left >= 0 ? 0 : Math.min(this.#numbers.longestWaitMs, Math.ceil(-left / this.#perMs(now)));
  }

  /** A message succeeded; one that had failed before (`attempt` above 1) gets the cost of its retry refunded. */
  earn(attempt: number, now: number): void {
    const { tokens, perSuccess, cost } = this.#numbers;
    this.#successes.add(1, this.#tick(now));
    this.#tokens = Math.min(tokens, this.#tokens + perSuccess + (attempt > 1 ? cost : 0));
  }

  /** No more than what comes in its longest wait: nobody waits for the rest. */
  #owe(tokens: number, now: number): void {
    this.#tokens = Math.max(tokens, -this.#numbers.longestWaitMs * this.#perMs(now));
  }

  /** Tokens that come in a millisecond, as things have gone lately. */
  #perMs(now: number): number {
    const { perSuccess, perSecond, windowMs } = this.#numbers;
    return perSecond / 1000 + (this.#successes.sum(this.#tick(now)) * perSuccess) / windowMs;
  }

  #tick(now: number): number {
    return Math.floor((now * BUCKETS) / this.#numbers.windowMs);
  }
}
