import { LazaretError } from '../core/errors.ts';
import { Heap } from '../core/heap.ts';
import type { Cancel, System } from '../ports/system.ts';

export interface ManualSystemOptions {
  /** The same seed gives the same chance and the same ids. Give each simulated process its own. Default 1. */
  readonly seed?: number;
  /** First value of `now()`, epoch milliseconds. Default 1 700 000 000 000 (14 November 2023). */
  readonly startAt?: number;
}

/** One armed timer; nothing is left to run once it fired or was cancelled. */
interface Timer {
  readonly at: number;
  readonly sequence: number;
  run: (() => void) | undefined;
}

/** More timers than this at one instant are a loop that re-arms itself without letting time pass. */
const TIMERS_PER_INSTANT = 100_000;

/** Where `monotonic()` begins: unlike any wall clock, and not zero, so that whoever confuses the two is seen. */
const MONOTONIC_START = 1_000;

/**
 * A System whose time stands still until `advance` is called. Same seed, same calls: same run.
 *
 * `advance` and `settle` let everything run that is ready: microtasks, `turn` callbacks, and what these make ready.
 * They do not wait for real I/O (files, sockets, child processes): what has arrived is taken along, what is under way
 * is not, so a test that does real I/O awaits it by itself and calls `settle` afterwards.
 */
export class ManualSystem implements System {
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.sequence < b.sequence));
  readonly #seed: number;
  #monotonic = MONOTONIC_START;
  #wallOffset: number;
  #chance: number;
  #armed = 0;
  #live = 0;
  #ids = 0;
  #turns: (() => void)[] = [];
  #moving: Promise<void> = Promise.resolve();

  constructor(options: ManualSystemOptions = {}) {
    this.#seed = options.seed ?? 1;
    this.#chance = this.#seed;
    this.#wallOffset = (options.startAt ?? 1_700_000_000_000) - MONOTONIC_START;
  }

  now(): number {
    return this.#monotonic + this.#wallOffset;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** mulberry32: small, fast, and good enough to draw waits and pick victims. */
  random(): number {
    this.#chance = (this.#chance + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#chance ^ (this.#chance >>> 15), 1 | this.#chance);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Shaped like a UUIDv7: time, then a counter, then the seed. */
  id(): string {
    const time = hex(this.now(), 12);
    const count = hex(this.#ids++, 12);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3, 6)}-${count.slice(6)}${hex(this.#seed & 0xff_ffff, 6)}`;
  }

  after(ms: number, run: () => void): Cancel {
    const timer: Timer = { at: this.#monotonic + Math.max(0, ms), sequence: this.#armed++, run };
    this.#timers.push(timer);
    this.#live++;
    return () => {
      if (timer.run === undefined) return;
      timer.run = undefined;
      this.#live--;
      if (this.#timers.size > 1_000 + 2 * this.#live) this.#timers.retain(({ run: armed }) => armed !== undefined);
    };
  }

  /** A simulated process lives as long as its test. */
  stayAlive(): Cancel {
    return () => undefined;
  }

  /** Also runs by itself, as in a real loop: code that only needs the end of the turn needs no `advance`. */
  turn(run: () => void): void {
    this.#turns.push(run);
    if (this.#turns.length === 1) setImmediate(() => this.#endTurn());
  }

  /** Lets `ms` pass: fires what falls due in order, each at its own time, and lets everything come to rest in between. Calls queue up. */
  advance(ms: number): Promise<void> {
    const move = () => this.#advance(ms);
    const moved = this.#moving.then(move, move);
    this.#moving = moved.catch(() => undefined);
    return moved;
  }

  /** Lets everything come to rest without time passing. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** The wall clock is set forward or back by `ms`; `monotonic` and the timers notice nothing. */
  jump(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Timers that are armed. 0 after everything was closed, else something leaks. */
  pending(): number {
    return this.#live;
  }

  async #advance(ms: number): Promise<void> {
    await this.#rest();
    const target = this.#monotonic + ms;
    let atThisInstant = 0;
    for (let next = this.#next(target); next !== undefined; next = this.#next(target)) {
      atThisInstant = next.at > this.#monotonic ? 1 : atThisInstant + 1;
      if (atThisInstant > TIMERS_PER_INSTANT) throw standstill(this.now());
      this.#monotonic = Math.max(this.#monotonic, next.at);
      this.#fire(next);
      await this.#rest();
    }
    this.#monotonic = target;
  }

  /** The next timer that still has something to run, up to `target`. */
  #next(target: number): Timer | undefined {
    let next = this.#timers.peek();
    while (next !== undefined && next.run === undefined) {
      this.#timers.pop();
      next = this.#timers.peek();
    }
    return next !== undefined && next.at <= target ? next : undefined;
  }

  #fire(timer: Timer): void {
    const run = timer.run!;
    timer.run = undefined;
    this.#live--;
    run();
  }

  /** An immediate runs after all microtasks, so an empty `turn` queue after one means that nothing is ready any more. */
  async #rest(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#turns.length > 0);
  }

  #endTurn(): void {
    const ready = this.#turns;
    this.#turns = [];
    for (const run of ready) run();
  }
}

function standstill(now: number): LazaretError {
  return new LazaretError('LZ1054', `More than ${TIMERS_PER_INSTANT} timers fired at ${now} without time passing.`, {
    hint: 'Something arms a timer of 0 ms again and again; give it a wait.',
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
