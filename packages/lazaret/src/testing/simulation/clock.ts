import { Heap } from '../../core/heap.ts';
import type { Cancel, System } from '../../ports/system.ts';
import type { Chance } from '../world/chance.ts';

interface Timer {
  readonly at: number;
  readonly sequence: number;
  run: (() => void) | undefined;
}

/** 14 November 2023, epoch milliseconds. */
const BEGAN_AT = 1_700_000_000_000;
/** Unlike any wall clock, so that whoever confuses the two is seen. */
const BOOTED_AT = 1_000;

/**
 * One clock for a whole fleet, in whole milliseconds. Timers of one millisecond fire in the order in which they were armed; then
 * everything that they made ready runs, turns included, before time goes on. It never waits for anything real, so a run is as fast
 * as what happens in it.
 */
export class SimulatedClock implements System {
  readonly #chance: Chance;
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.sequence < b.sequence));
  #turns: (() => void)[] = [];
  #now = 0;
  #armed = 0;
  #ids = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Milliseconds since the simulation began. */
  get elapsed(): number {
    return this.#now;
  }

  now(): number {
    return BEGAN_AT + this.#now;
  }

  monotonic(): number {
    return BOOTED_AT + this.#now;
  }

  random(): number {
    return this.#chance.next();
  }

  id(): string {
    return `s-${++this.#ids}`;
  }

  after(ms: number, run: () => void): Cancel {
    const timer: Timer = { at: this.#now + Math.max(0, Math.ceil(ms)), sequence: this.#armed++, run };
    this.#timers.push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  stayAlive(): Cancel {
    return () => undefined;
  }

  turn(run: () => void): void {
    this.#turns.push(run);
  }

  /** Lets everything happen up to `endMs` since the beginning. Rejects with what a timer or a turn throws. */
  run(endMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          if (this.#turns.length > 0) this.#endTurn();
          else if (!this.#fire(endMs)) {
            this.#now = endMs;
            resolve();
            return;
          }
        } catch (thrown) {
          reject(thrown);
          return;
        }
        queueMicrotask(rest);
      };
      // n.b. a tick that a microtask asks for runs when no microtask is left: the cheapest way to let everything come to rest.
      const rest = () => process.nextTick(step);
      queueMicrotask(rest);
    });
  }

  #endTurn(): void {
    const ready = this.#turns;
    this.#turns = [];
    for (const run of ready) run();
  }

  /** All that is due at the next instant; `false` where nothing is until `endMs`. */
  #fire(endMs: number): boolean {
    const timers = this.#timers;
    let next = timers.peek();
    while (next !== undefined && next.run === undefined) {
      timers.pop();
      next = timers.peek();
    }
    if (next === undefined || next.at > endMs) return false;
    const { at } = next;
    this.#now = at;
    // n.b. what these arm for now waits for the next call: it may depend on what they made ready.
    const armed = this.#armed;
    for (; next !== undefined && next.at === at && next.sequence < armed; next = timers.peek()) {
      timers.pop();
      const { run } = next;
      next.run = undefined;
      run?.();
    }
    return true;
  }
}
