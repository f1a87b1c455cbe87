import type { Subscription } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import { type Alarm, alarm } from './alarm.ts';
import { asError } from './as-error.ts';

/** Not more often: each change is a round trip, and what is handed back comes again. */
const EVERY_MS = 1_000;

/**
 * How much a broker that pushes may push. It follows what may run at once, in steps of at least 2x and at most once a second; 0,
 * which hands back what waits here, is said at once.
 */
export class Credit {
  readonly #subscription: Subscription;
  readonly #trouble: (error: Error) => void;
  readonly #alarm: Alarm;
  #wanted: number;
  #said: number;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** `prefetch`: what it was subscribed with. */
  constructor(subscription: Subscription, prefetch: number, system: System, trouble: (error: Error) => void) {
    this.#subscription = subscription;
    this.#trouble = trouble;
    this.#wanted = prefetch;
    this.#said = prefetch;
    this.#alarm = alarm(system, (now) => this.#look(now));
  }

  want(credit: number, now: number): void {
    if (credit === this.#wanted) return;
    this.#wanted = credit;
    this.#alarm.by(this.#look(now));
  }

  stop(): void {
    this.#alarm.stop();
  }

  /** Says it where it is time. Answers when to look again. */
  #look(now: number): number {
    if (!this.#isWorthSaying()) return Number.POSITIVE_INFINITY;
    const at = this.#wanted === 0 ? now : this.#saidAt + EVERY_MS;
    if (now < at) return at;
    this.#say(this.#wanted, now);
    return Number.POSITIVE_INFINITY;
  }

  #isWorthSaying(): boolean {
    if (this.#wanted === 0 || this.#said === 0) return this.#wanted !== this.#said;
    return this.#wanted >= 2 * this.#said || this.#wanted <= this.#said / 2;
  }

  #say(credit: number, now: number): void {
    this.#said = credit;
    this.#saidAt = now;
    this.#subscription.credit?.(credit).catch((thrown) => this.#trouble(asError(thrown)));
  }
}
