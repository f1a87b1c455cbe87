import type { GuiltNumbers } from './numbers.ts';
import { Tally } from './tally.ts';

export type Sight = 'clear' | 'blind' | 'proven';

interface Failing {
  message: number;
  at: number;
  /** Successes of the queue that had been seen by then. */
  successes: number;
}

const BUCKETS = 10;
/** Where more than half fails, a breaker judges; and a message that always fails must come to an end. */
const MOST_CHANCE = 0.5;

/**
 * Whose fault a dependency's failure is. Not the message's, while others of its scope fail too: enough distinct ones, no
 * success between, within the window. Where some fail and some succeed, not before it has failed more often in a row than chance
 * explains: how many fail for the first time says what chance does, which messages that always fail cannot raise by coming again.
 * A message that fails alone pays for it. Bounded memory: the latest failing messages, one more than it takes, and how often
 * each of those that failed lately did.
 */
export class Guilt {
  readonly #numbers: GuiltNumbers;
  readonly #latest: Failing[] = [];
  #known = 0;
  readonly #good: Tally = new Tally(BUCKETS);
  /** Messages that failed for the first time. */
  readonly #fresh: Tally = new Tally(BUCKETS);
  /** How often each failed, the one that failed longest ago first. */
  readonly #times: Map<number, number> = new Map();

  constructor(numbers: GuiltNumbers) {
    this.#numbers = numbers;
    if (numbers.others === Number.POSITIVE_INFINITY) return;
    for (let at = 0; at <= numbers.others; at++) this.#latest.push({ message: -1, at: 0, successes: 0 });
  }

  /** A message of this scope succeeded: those that failed before it failed alone. */
  succeeded(now: number): void {
    this.#known = 0;
    this.#good.add(1, this.#tick(now));
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
    const times = this.#count(message, now);
    if (sight === 'proven' || others >= this.#numbers.others) return 'uncharged';
    return sight === 'clear' && this.#mayBeChance(times, now) ? 'uncharged' : 'charged';
  }

  #mayBeChance(times: number, now: number): boolean {
    const tick = this.#tick(now);
    const fresh = this.#fresh.sum(tick);
    const good = this.#good.sum(tick);
    const share = fresh / good;
    const { others, least } = this.#numbers;
    if (fresh <= others || fresh + good < least || share < this.#numbers.share) return false;
    return Math.min(share, MOST_CHANCE) ** times > this.#numbers.doubt;
  }

  /** How often it has failed by now. */
  #count(message: number, now: number): number {
    const times = (this.#times.get(message) ?? 0) + 1;
    if (times === 1) this.#fresh.add(1, this.#tick(now));
    this.#times.delete(message);
    this.#times.set(message, times);
    if (this.#times.size > this.#numbers.remembered) this.#times.delete(this.#times.keys().next().value!);
    return times;
  }

  #tick(now: number): number {
    return Math.floor((now * BUCKETS) / this.#numbers.shareMs);
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
