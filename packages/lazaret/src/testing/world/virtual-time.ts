import { Heap } from '../../core/heap.ts';
import type { Chance } from './chance.ts';
import type { Trace } from './trace.ts';

/** Something that happens at a time. Undone by taking its `run` away. */
export interface Happening {
  readonly at: number;
  /** Among those of one instant the smaller comes first. */
  readonly tie: number;
  readonly sequence: number;
  run: (() => void) | undefined;
}

/** Before everything else of its instant. */
export const FIRST = -1;

/** Times are multiples of it (milliseconds), so that sums and differences of times are exact. */
const GRAIN = 1 / 1024;

/**
 * One clock for a whole world. What is due at one instant happens in an order that chance decides, one thing at a time, and
 * everything that one thing makes ready has run before the next.
 */
export class VirtualTime {
  readonly #chance: Chance;
  readonly #trace: Trace;
  readonly #coming = new Heap<Happening>(isBefore);
  #now = 0;
  #sequence = 0;
  #happened = 0;
  #atThisInstant = 0;

  constructor(chance: Chance, trace: Trace) {
    this.#chance = chance;
    this.#trace = trace;
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  /** How many things were ever planned. */
  get planned(): number {
    return this.#sequence;
  }

  /** How many of them have happened. */
  get happened(): number {
    return this.#happened;
  }

  /** How many of them have happened without time passing. */
  get atThisInstant(): number {
    return this.#atThisInstant;
  }

  at(when: number, run: () => void, tie: number = this.#chance.next()): Happening {
    const at = Math.max(this.#now, Math.ceil(when / GRAIN) * GRAIN);
    const happening: Happening = { at, tie, sequence: this.#sequence++, run };
    this.#coming.push(happening);
    return happening;
  }

  in(ms: number, run: () => void): Happening {
    return this.at(this.#now + ms, run);
  }

  /**
   * Goes on until `isOver`, asked before each step, or until nothing comes any more. A tick runs when no microtask is left, so it
   * is the cheapest way to let everything come to rest.
   */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          const next = isOver() ? undefined : this.#next();
          if (next === undefined) {
            resolve();
            return;
          }
          this.#atThisInstant = next.at > this.#now ? 1 : this.#atThisInstant + 1;
          this.#now = next.at;
          this.#trace.mix(next.at);
          this.#trace.mix(next.sequence);
          this.#happened++;
          const { run } = next;
          next.run = undefined;
          run!();
        } catch (thrown) {
          reject(thrown);
          return;
        }
        queueMicrotask(rest);
      };
      const rest = () => process.nextTick(step);
      queueMicrotask(rest);
    });
  }

  #next(): Happening | undefined {
    let next = this.#coming.pop();
    while (next !== undefined && next.run === undefined) next = this.#coming.pop();
    return next;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie === b.tie ? a.sequence < b.sequence : a.tie < b.tie;
}
