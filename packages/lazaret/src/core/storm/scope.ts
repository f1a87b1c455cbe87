import { wholeStart } from '../clip.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import { Breaker, type BreakerChange } from './breaker.ts';
import type { Fleet } from './fleet.ts';
import { Guilt } from './guilt.ts';
import type { StormNumbers } from './numbers.ts';
import { RetryBudget } from './retry-budget.ts';

const LONGEST_NAME = 256;

/**
 * A queue's messages that need one dependency, or all of a queue's that name none: what fails together, and is slowed and
 * stopped together.
 */
export class Scope {
  /** `undefined`: the queue's own. */
  readonly dependency: string | undefined;
  readonly breaker: Breaker;
  readonly concurrency: AdaptiveConcurrency;
  readonly budget: RetryBudget;
  readonly guilt: Guilt;
  inFlight = 0;
  /** Starts, ever: where there were none, only failures named the dependency. */
  entered = 0;
  usedAt: number;
  /** Since it last let a message start while its breaker was closed. */
  turnedAway = 0;

  constructor(dependency: string | undefined, setup: ScopeSetup, now: number) {
    const { numbers, concurrency, timeoutMs, fleet } = setup;
    this.dependency = dependency;
    this.breaker = new Breaker(numbers.breaker, concurrency, (change) => setup.told(dependency, change), fleet);
    this.concurrency = new AdaptiveConcurrency(numbers.concurrency, concurrency, timeoutMs, now, fleet);
    this.budget = new RetryBudget(numbers.budget, now);
    this.guilt = new Guilt(numbers.guilt);
    this.usedAt = now;
  }

  /** How many more may start. A probe is not held up by handlers that still hang from before. */
  room(now: number): number {
    const room = this.breaker.room(this.inFlight, now);
    if (room <= 1 && this.breaker.state(now) === 'half-open') return room;
    return Math.min(room, this.concurrency.limit(now) - this.inFlight);
  }

  /** How many may run at once, whatever runs. */
  breadth(now: number): number {
    return Math.min(this.breaker.breadth(now), this.concurrency.limit(now));
  }
}

export interface ScopeSetup {
  readonly numbers: StormNumbers;
  /** Of the consumer: no limit is higher. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly told: (dependency: string | undefined, change: BreakerChange) => void;
  readonly fleet: Readonly<Fleet>;
}

/** Scopes of one queue by dependency, in bounded number: names that find no place share one. */
export class Scopes {
  readonly own: Scope;
  readonly #setup: ScopeSetup;
  readonly #named: Map<string, Scope> = new Map();
  #others: Scope | undefined;
  /** The same in a row, our own first. */
  #all: readonly Scope[];

  constructor(setup: ScopeSetup, now: number) {
    this.#setup = setup;
    this.own = new Scope(undefined, setup, now);
    this.#all = [this.own];
  }

  of(dependency: string | undefined, now: number): Scope {
    const scope = dependency === undefined ? this.own : (this.#named.get(dependency) ?? this.#enrol(dependency, now));
    scope.usedAt = now;
    return scope;
  }

  all(): readonly Scope[] {
    return this.#all;
  }

  /** How many more may start, over all scopes that messages currently come for. */
  room(now: number): number {
    if (this.#all.length === 1) return this.own.room(now);
    const live = this.#live(now);
    return live.reduce((room, scope) => room + Math.max(0, scope.room(now)), 0);
  }

  /** How many may run at once, over the same scopes. */
  breadth(now: number): number {
    if (this.#all.length === 1) return this.own.breadth(now);
    return this.#live(now).reduce((breadth, scope) => breadth + scope.breadth(now), 0);
  }

  /** When `room` may grow by itself. */
  nextAt(now: number): number {
    let at = Number.POSITIVE_INFINITY;
    for (const scope of this.#all) at = Math.min(at, scope.breaker.nextAt(now));
    return at;
  }

  /** The queue's own, where nobody comes for any. */
  #live(now: number): readonly Scope[] {
    const live = this.#all.filter((scope) => this.#isLive(scope, now));
    return live.length === 0 ? [this.own] : live;
  }

  /** One that only failures name takes no messages. */
  #isLive(scope: Scope, now: number): boolean {
    if (scope.entered === 0) return false;
    return (
      scope.inFlight > 0 ||
      scope.breaker.state(now) !== 'closed' ||
      now - scope.usedAt < this.#setup.numbers.scopes.liveMs
    );
  }

  #enrol(dependency: string, now: number): Scope {
    const name = wholeStart(dependency, LONGEST_NAME);
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    if (this.#named.size >= this.#setup.numbers.scopes.dependencies && !this.#forgetIdle(now)) {
      this.#others ??= this.#open(OTHERS, now);
      return this.#others;
    }
    const scope = this.#open(name, now);
    this.#named.set(name, scope);
    return scope;
  }

  #open(name: string, now: number): Scope {
    const scope = new Scope(name, this.#setup, now);
    this.#all = [...this.#all, scope];
    return scope;
  }

  #forgetIdle(now: number): boolean {
    for (const [name, scope] of this.#named) {
      const idle = now - scope.usedAt >= this.#setup.numbers.scopes.idleMs;
      if (!idle || scope.inFlight > 0 || scope.breaker.state(now) !== 'closed') continue;
      this.#all = this.#all.filter((other) => other !== scope);
      return this.#named.delete(name);
    }
    return false;
  }
}

/** Where dependencies without a place of their own are counted. */
const OTHERS = 'others';
