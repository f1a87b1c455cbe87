import { Poison } from '../../core/failures.ts';
import type { Cancel, System } from '../../ports/system.ts';
import type { Chance } from '../world/chance.ts';
import type { SimulationSetup, Trouble } from './contract.ts';
import { type Answer, Dependency, type Weather } from './dependency.ts';
import type { Population } from './population.ts';

/** What the handlers do: look at their message, call what it needs, and throw what a client would throw. */
export class Service {
  readonly main: Dependency;
  readonly #other: Dependency;
  readonly #population: Population;
  readonly #clock: System;
  readonly #alarms: Map<Dependency, { readonly at: number; readonly cancel: Cancel }> = new Map();
  #isBroken = false;
  /** Handlers that run. */
  running = 0;
  /** Runs of handlers that came to an end, whatever it was. */
  outcomes = 0;
  /** To both dependencies, and to the one that is in trouble. */
  calls = 0;
  mainCalls = 0;

  constructor(setup: SimulationSetup, population: Population, clock: System, chance: Chance) {
    const { servers, serviceMs, clientTimeoutMs, service = 'even' } = setup;
    const like = (own: Chance) =>
      new Dependency({ servers, serviceMs, clientTimeoutMs, service, chance: () => own.next() });
    this.main = like(chance.fork(1));
    this.#other = like(chance.fork(2));
    this.#population = population;
    this.#clock = clock;
  }

  /** `undefined`: all is well. */
  suffer(trouble: Trouble | undefined): void {
    this.#isBroken = trouble?.kind === 'bad-deploy';
    this.#become(trouble?.kind === 'bad-deploy' ? undefined : trouble);
  }

  #become(weather: Weather | undefined): void {
    this.main.become(weather, this.#clock.monotonic());
    this.#lookAfter(this.main);
  }

  async handle(number: number): Promise<void> {
    this.running++;
    try {
      await this.#work(number);
    } finally {
      this.running--;
      this.outcomes++;
    }
  }

  async #work(number: number): Promise<void> {
    if (this.#isBroken) throw new TypeError("Cannot read properties of undefined (reading 'total')");
    const nature = this.#population.nature(number);
    if (nature === 'poison') throw new Poison('the coupon is unknown');
    const answer = await this.#call(nature === 'other' ? this.#other : this.main);
    if (answer !== 'served') throw errorOf(answer);
  }

  #call(dependency: Dependency): Promise<Answer> {
    this.calls++;
    if (dependency === this.main) this.mainCalls++;
    return new Promise((resolve) => {
      dependency.call(this.#clock.monotonic(), resolve);
      this.#lookAfter(dependency);
    });
  }

  /** One timer for each dependency, at what ends next. */
  #lookAfter(dependency: Dependency): void {
    const at = dependency.nextAt;
    const alarm = this.#alarms.get(dependency);
    if (alarm !== undefined && alarm.at <= at) return;
    alarm?.cancel();
    this.#alarms.delete(dependency);
    if (at === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonic();
    const cancel = this.#clock.after(at - now, () => {
      this.#alarms.delete(dependency);
      dependency.advance(this.#clock.monotonic());
      this.#lookAfter(dependency);
    });
    this.#alarms.set(dependency, { at, cancel });
  }
}

/** As HTTP and socket clients throw them. */
function errorOf(answer: Exclude<Answer, 'served'>): Error {
  switch (answer) {
    case 'refused':
      return Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8080'), { code: 'ECONNREFUSED' });
    case 'failed':
      return Object.assign(new Error('Request failed with status code 503'), { status: 503 });
    case 'timed-out':
      return Object.assign(new Error('The request timed out'), { name: 'TimeoutError', code: 'ETIMEDOUT' });
  }
}
