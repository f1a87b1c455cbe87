import type { BudgetNumbers } from './numbers.ts';

/**
 * What retries may cost in all, so that they never become most of the load: successes earn, retries pay. An empty budget
 * refuses nothing; it says how long a retry waits until its tokens have trickled in, while fresh work goes on.
 */
export class RetryBudget {
  readonly #numbers: BudgetNumbers;
  readonly #perMs: number;
  /** Below 0: what retries that wait have been promised. */
  readonly #lowest: number;
  #tokens: number;
  #at: number;

  constructor(numbers: BudgetNumbers, now: number) {
    this.#numbers = numbers;
    this.#perMs = numbers.perSecond / 1000;
    this.#lowest = -numbers.longestWaitMs * this.#perMs;
    this.#tokens = numbers.tokens;
    this.#at = now;
  }

  tokens(now: number): number {
    const elapsedMs = Math.max(0, now - this.#at);
    this.#at = now;
    this.#tokens = Math.min(this.#numbers.tokens, this.#tokens + elapsedMs * this.#perMs);
    return this.#tokens;
  }

  /** A retry is scheduled: milliseconds that it must wait for the budget, 0 where it is paid at once. */
  spend(cost: number, now: number): number {
    if (cost <= 0) return 0;
    const left = this.tokens(now) - cost;
    this.#tokens = Math.max(this.#lowest, left);
    return left >= 0 ? 0 : Math.min(this.#numbers.longestWaitMs, Math.ceil(-left / this.#perMs));
  }

  /** A message succeeded; one that had failed before (`attempt` above 1) gets the cost of its retry refunded. */
  earn(attempt: number): void {
    const { tokens, perSuccess, cost } = this.#numbers;
    this.#tokens = Math.min(tokens, this.#tokens + perSuccess + (attempt > 1 ? cost : 0));
  }
}
