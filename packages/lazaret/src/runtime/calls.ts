import type { Outcome } from '../core/outcome.ts';
import type { Cancel, System } from '../ports/system.ts';
import type { Timekeeper } from './context.ts';
import type { Episode } from './episode.ts';
import type { Run } from './run.ts';

/** A message that takes part in a call. */
export interface Caller {
  readonly run: Run;
  readonly keeper: Timekeeper;
  readonly episode: Episode;
  /** Its call is over, or never comes. */
  readonly end: (outcome: Outcome) => void;
}

/** While calls wait, how often is looked whether a call was abandoned. */
const LOOK_EVERY_MS = 1_000;

const UNHEARD: Outcome = { kind: 'done' };
const STOPPING: Outcome = { kind: 'givenBack', delayMs: 0, why: 'shutdown' };
const NOT_CALLED: Outcome = { kind: 'givenBack', delayMs: 0, why: 'the calls before it took too long' };

interface Waiting<C> {
  readonly callers: readonly C[];
  readonly endsAt: number;
}

/**
 * Lets at most `most` calls run at once; the others wait in the order in which they came. An abandoned call gives its place back. Who
 * has waited for half of its time, or comes too late to be called, is given back uncharged: its deadline is for the handler, not for the
 * queue before it.
 */
export class Calls<C extends Caller> {
  readonly #most: number;
  readonly #call: (callers: readonly C[]) => Promise<void>;
  readonly #system: System;
  #waiting: Waiting<C>[] = [];
  readonly #underWay = new Set<readonly C[]>();
  #closed = false;
  #cancel: Cancel | undefined;

  /** `call` ends every caller and never rejects. */
  constructor(most: number, call: (callers: readonly C[]) => Promise<void>, system: System) {
    this.#most = most;
    this.#call = call;
    this.#system = system;
  }

  add(callers: readonly C[]): void {
    if (callers.length === 0) return;
    this.#waiting.push({ callers, endsAt: this.#system.monotonic() + patienceMs(callers) });
    this.#look();
  }

  /** From now on nothing waits: what cannot be called at once is given back. */
  close(): void {
    this.#closed = true;
    this.#look();
  }

  readonly #look = (): void => {
    this.#cancel?.();
    this.#cancel = undefined;
    while (this.#waiting.length > 0 && this.#running() < this.#most) this.#begin(this.#waiting.shift()!.callers);
    this.#giveBack();
    if (this.#waiting.length > 0) this.#cancel = this.#system.after(this.#nextLookMs(), this.#look);
  };

  #nextLookMs(): number {
    const leftMs = Math.min(...this.#waiting.map(({ endsAt }) => endsAt)) - this.#system.monotonic();
    return Math.max(0, Math.min(LOOK_EVERY_MS, leftMs));
  }

  #running(): number {
    let running = 0;
    for (const callers of this.#underWay) if (callers.some(isHeard)) running++;
    return running;
  }

  #begin(all: readonly C[]): void {
    const callers: C[] = [];
    for (const caller of all) {
      const { run, keeper, end } = caller;
      if (!isHeard(caller)) end(UNHEARD);
      else if (keeper.begins(run)) callers.push(caller);
      else end(NOT_CALLED);
    }
    if (callers.length === 0) return;
    this.#underWay.add(callers);
    void this.#call(callers).then(() => {
      this.#underWay.delete(callers);
      this.#look();
    });
  }

  #giveBack(): void {
    const now = this.#system.monotonic();
    const isOver = ({ endsAt }: Waiting<C>) => this.#closed || endsAt <= now;
    if (!this.#waiting.some(isOver)) return;
    const over = this.#waiting.filter(isOver);
    this.#waiting = this.#waiting.filter((waiting) => !isOver(waiting));
    for (const { callers } of over) for (const { end } of callers) end(this.#closed ? STOPPING : NOT_CALLED);
  }
}

/** Whoever is abandoned ends without being heard. */
function isHeard({ episode }: Caller): boolean {
  return episode.listened;
}

function patienceMs(callers: readonly Caller[]): number {
  return Math.min(...callers.map(({ run, keeper }) => keeper.waits(run)));
}
