import type { GuiltNumbers } from './numbers.ts';

export type Sight = 'clear' | 'blind' | 'proven';

interface Failing {
  message: number;
  at: number;
  /** Successes of the queue that had been seen by then. */
  successes: number;
}

/**
 * Whose fault a dependency's failure is. Not the message's, while others of its scope fail too: enough distinct ones, no
 * success between, within the window. A message that fails alone pays for it. Remembers only the latest failing messages, one
 * more than it takes, since no others can change an answer.
 */
export class Guilt {
  readonly #numbers: GuiltNumbers;
  readonly #latest: Failing[] = [];
  #known = 0;

  constructor(numbers: GuiltNumbers) {
    this.#numbers = numbers;
    if (numbers.others === Number.POSITIVE_INFINITY) return;
    for (let at = 0; at <= numbers.others; at++) this.#latest.push({ message: -1, at: 0, successes: 0 });
  }

  /** A message of this scope succeeded: those that failed before it failed alone. */
  succeeded(): void {
    this.#known = 0;
  }

  /**
   * A message failed on the dependency: whether it is charged. `successes` are all of the queue so far. How well we see: blind
   * where a success does not say whether it used the dependency, proven where a breaker says that it is down.
   */
  failed(message: number, successes: number, sight: Sight, now: number): 'charged' | 'uncharged' {
    const allowed = sight === 'blind' ? this.#numbers.blindSuccesses : Number.POSITIVE_INFINITY;
    let others = 0;
    for (let at = 0; at < this.#known; at++) {
      const failing = this.#latest[at]!;
      const recent = now - failing.at <= this.#numbers.windowMs && successes - failing.successes <= allowed;
      if (recent && failing.message !== message) others++;
    }
    this.#remember(message, successes, now);
    if (this.#latest.length === 0) return 'charged';
    return sight === 'proven' || others >= this.#numbers.others ? 'uncharged' : 'charged';
  }

  /** First among the latest, once. */
  #remember(message: number, successes: number, now: number): void {
    const latest = this.#latest;
    let place = 0;
    while (place < this.#known && latest[place]!.message !== message) place++;
    if (place === latest.length) place--;
    else if (place === this.#known) this.#known++;
    const failing = latest[place];
    if (failing === undefined) return;
    failing.message = message;
    failing.at = now;
    failing.successes = successes;
    latest.splice(place, 1);
    latest.unshift(failing);
  }
}
