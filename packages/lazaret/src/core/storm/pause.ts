import { type Answer, Breaker, type BreakerChange, type BreakerState } from './breaker.ts';
import type { StormChange } from './changes.ts';
import type { BreakerNumbers } from './numbers.ts';

/**
 * A whole queue stands still, since nearly everything in it fails with one fingerprint, or since a person said so. It lives like a
 * breaker whose only unhealthy answer is that fingerprint: probes go on, and the first other end of one resumes, on a ramp.
 */
export class Pause {
  readonly breaker: Breaker;
  readonly #told: (change: StormChange) => void;
  /** `undefined` where a person paused it, or nobody. */
  #print: string | undefined;
  #standsStill = false;

  constructor(numbers: BreakerNumbers, full: number, told: (change: StormChange) => void) {
    this.breaker = new Breaker(numbers, full, (change) => this.#tell(change));
    this.#told = told;
  }

  get fingerprint(): string | undefined {
    return this.#print;
  }

  state(now: number): BreakerState {
    return this.breaker.state(now);
  }

  /** Nearly everything fails with `print`. */
  tripFor(print: string, why: string, now: number, chance: number): void {
    const before = this.#print;
    this.#print = print;
    if (!this.breaker.trip(why, now, chance)) this.#print = before;
  }

  /** Whether it paused for `print` and has not come to its end: what fails with it still is nobody's fault. */
  isFor(print: string | undefined, now: number): boolean {
    return print !== undefined && print === this.#print && this.state(now) !== 'closed';
  }

  /** A run ended: with `print`, where it failed and somebody looked. */
  answered(answer: Answer, print: string | undefined, startedAt: number, now: number, chance: number): void {
    if (this.state(now) === 'closed') return;
    const own = this.isFor(print, now) ? 'sick' : answer === 'hung' ? 'hung' : 'well';
    this.breaker.answered(own, startedAt, now, chance, 0);
  }

  /** By hand: pauses for so long, whatever happens; resumes at once with 0. */
  set(forMs: number, why: string, now: number): void {
    this.#print = undefined;
    this.breaker.pin(forMs > 0 ? 'open' : 'closed', forMs, why, now);
  }

  #tell({ state, why, forMs = 0 }: BreakerChange): void {
    if (state === 'open') {
      this.#standsStill = true;
      this.#told({ what: 'paused', why, forMs, ...(this.#print === undefined ? {} : { fingerprint: this.#print }) });
    } else if (state !== 'half-open' && this.#standsStill) {
      this.#standsStill = false;
      this.#told({ what: 'resumed', why });
    }
    if (state === 'closed') this.#print = undefined;
  }
}
