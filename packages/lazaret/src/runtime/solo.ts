import type { Cancel, System } from '../ports/system.ts';

/** A consumer, as far as running alone goes. */
export interface Soloist {
  /** Nothing started, unsettled or asked for. */
  quiet(): boolean;
  /** Asks the broker for nothing more, and starts nothing that is not in hand already. */
  close(): void;
  open(): void;
  /** Runs one suspect until it is settled. Called only while everybody is quiet. */
  runSuspect(): Promise<SuspectRun>;
}

/** 'none': none is to be had now; somebody else may have it. 'failed': the broker did not answer. */
export type SuspectRun = 'ran' | 'none' | 'failed';

/** Longest time that admission stays closed while others finish, or for suspects one after another. */
const CLOSED_MS = 30_000;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 600_000;

/**
 * Lets messages whose owners died twice run with nothing else of this process beside them, so that a crash convicts nobody else.
 * Closed for at most 30 s at a time, with pauses that grow while others do not get quiet: a long handler elsewhere starves nobody.
 */
export class Solo {
  readonly #system: System;
  readonly #soloists = new Set<Soloist>();
  readonly #waiting = new Map<Soloist, number>();
  #state: 'open' | 'closing' | 'alone' | 'pausing' | 'ended' = 'open';
  #closedAt = 0;
  #inVain = 0;
  #cancel: Cancel | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /** Consumers tell when they may have got quiet. */
  get closing(): boolean {
    return this.#state === 'closing';
  }

  join(soloist: Soloist): void {
    this.#soloists.add(soloist);
    if (this.#state === 'closing' || this.#state === 'alone') soloist.close();
  }

  leave(soloist: Soloist): void {
    this.#soloists.delete(soloist);
    this.#waiting.delete(soloist);
    this.look();
  }

  suspects(soloist: Soloist, waiting: number): void {
    if (waiting > 0) this.#waiting.set(soloist, waiting);
    else this.#waiting.delete(soloist);
    if (this.#state === 'open' && waiting > 0) this.#close();
  }

  /** Somebody may have got quiet. */
  look(): void {
    if (this.#state !== 'closing') return;
    for (const soloist of this.#soloists) if (!soloist.quiet()) return;
    void this.#alone();
  }

  end(): void {
    this.#cancel?.();
    this.#state = 'ended';
  }

  #close(): void {
    this.#state = 'closing';
    this.#closedAt = this.#system.monotonic();
    for (const soloist of this.#soloists) soloist.close();
    this.#cancel = this.#system.after(CLOSED_MS, () => this.#reopen(this.#nextPause(false)));
    this.look();
  }

  async #alone(): Promise<void> {
    this.#state = 'alone';
    this.#cancel?.();
    let ran = false;
    const spent = new Set<Soloist>();
    for (let next = this.#next(spent); next !== undefined; next = this.#next(spent)) {
      if ((await next.runSuspect()) === 'ran') ran = true;
      else spent.add(next);
    }
    if (this.#state === 'alone') this.#reopen(this.#nextPause(ran));
  }

  /** Whose suspects are run next; nobody when the time is up, or the others have none to be had now. */
  #next(spent: ReadonlySet<Soloist>): Soloist | undefined {
    if (this.#state !== 'alone' || this.#system.monotonic() - this.#closedAt >= CLOSED_MS) return undefined;
    for (const soloist of this.#waiting.keys()) if (!spent.has(soloist)) return soloist;
    return undefined;
  }

  /** Others get as long as they were kept waiting; and ever longer, while they were kept waiting in vain. */
  #nextPause(ran: boolean): number {
    const closedMs = Math.max(SHORTEST_PAUSE_MS, this.#system.monotonic() - this.#closedAt);
    this.#inVain = ran ? 0 : this.#inVain + 1;
    return ran ? closedMs : Math.min(closedMs * 2 ** Math.min(this.#inVain - 1, 20), LONGEST_PAUSE_MS);
  }

  #reopen(pauseMs: number): void {
    this.#state = 'pausing';
    for (const soloist of this.#soloists) soloist.open();
    this.#cancel = this.#system.after(pauseMs, () => {
      this.#state = 'open';
      if (this.#waiting.size > 0) this.#close();
    });
  }
}
