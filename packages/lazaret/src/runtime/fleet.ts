import type { Rate } from '../core/duration.ts';
import type { Breaker } from '../core/storm/breaker.ts';
import type { Gate } from '../core/storm/gate.ts';
import type { RateUse } from '../core/storm/rate-limit.ts';
import {
  type Lesson,
  meetBreaker,
  type OwnBreaker,
  readSharedBreakers,
  SHARED_BREAKERS_TTL_MS,
  type SharedBreaker,
  sharedBreakersKey,
  withRecord,
  writeSharedBreakers,
} from '../core/storm/shared-breakers.ts';
import {
  leaseSlots,
  nextTurnMs,
  readSlotPool,
  SLOT_POOL_TTL_MS,
  SLOT_SLICE_MS,
  SLOTS_COUNT_MS,
  slotPoolKey,
  writeSlotPool,
} from '../core/storm/slot-pool.ts';
import {
  burstOf,
  lendTokens,
  readTokenPool,
  TOKEN_SLICE_MS,
  tokenPoolKey,
  tokenPoolTtlMs,
  writeTokenPool,
} from '../core/storm/token-pool.ts';
import type { SharedState, Versioned } from '../ports/shared-state.ts';
import type { System } from '../ports/system.ts';
import { swap } from './swap.ts';

export interface FleetSetup {
  readonly queue: string;
  readonly gate: Gate;
  readonly system: System;
  /** The name of this process. */
  readonly process: string;
  /** Handlers of this process. */
  readonly concurrency: number;
  /** Handlers of all processes; no limit where it is absent. */
  readonly globalConcurrency: number | undefined;
  /** Something may start now that could not before. */
  readonly changed: () => void;
}

/** What is lent of the rate, from which half is kept while nobody can be asked, follows what is used, by so much each slice. */
const FOLLOW_SHARE = 1 / 8;
/** Who has never heard of the others counts on so many. */
const SUPPOSED_PROCESSES = 4;
const LONGEST_LOAN_WAIT_MS = 5_000;
/** Slots that others still hold are asked for so often. */
const OWED_MS = 250;
/** Those whose turn is over give back so long after it at most: then all clocks say so. */
const AFTER_TURN_MS = 100;
/** Processes that began together do not stay in step. */
const OUT_OF_STEP = 0.1;

/**
 * The limits of one queue that hold for all of its processes together, and what its breakers learn from each other. Tokens and slots
 * are borrowed for a slice of time, so that no message asks the store. While the store is away this process keeps to half of what it
 * last had, and its breakers live by themselves.
 */
export class Fleet {
  readonly #setup: FleetSetup;
  /** Processes of the queue, this one included, as far as anybody knows. */
  #processes: number = SUPPOSED_PROCESSES;
  #isAway = false;
  /** What a round of before the last absence still brings counts no more. */
  #round = 0;
  /** Monotonic: when tokens, and slots, are asked for next. */
  #loanAt = Number.NEGATIVE_INFINITY;
  #leaseAt = Number.NEGATIVE_INFINITY;
  #rate: Rate | undefined;
  #hasBorrowed = false;
  /** Of the rate, lately used here. */
  #share = 0;
  #slots: number | undefined;
  #slotsUntil = Number.POSITIVE_INFINITY;
  #slotsWanted: number;

  constructor(setup: FleetSetup) {
    this.#setup = setup;
    this.#slotsWanted = setup.concurrency;
  }

  /** What it reads of the store in each round. */
  get keys(): readonly string[] {
    const { queue } = this.#setup;
    return [sharedBreakersKey(queue), tokenPoolKey(queue), slotPoolKey(queue)];
  }

  /** When it has something to ask for; Infinity where a round from time to time is enough. */
  nextAt(now: number): number {
    if (this.#isAway) return Number.POSITIVE_INFINITY;
    const { globalConcurrency, gate } = this.#setup;
    const leaseAt = globalConcurrency === undefined ? Number.POSITIVE_INFINITY : this.#leaseAt;
    const use = gate.rateUse(now);
    if (use === undefined || this.#isContent(use)) return leaseAt;
    return Math.min(leaseAt, use.rate === this.#rate ? this.#loanAt : now);
  }

  countProcesses(processes: number): void {
    this.#processes = Math.max(1, processes);
    this.#setup.gate.countProcesses(this.#processes);
  }

  /** One round. `found` is what `keys` hold. Rejects where the store is away. */
  async meet(shared: SharedState, found: readonly Versioned[]): Promise<void> {
    const [breakers, tokens, slots] = found;
    this.#isAway = false;
    this.#setup.gate.joinFleet(true);
    await Promise.all([this.#meetBreakers(shared, breakers), this.#borrow(shared, tokens), this.#lease(shared, slots)]);
  }

  /** The store does not answer: what was lent holds for its time, then half of it. */
  away(now: number): void {
    const { gate, globalConcurrency, changed } = this.#setup;
    if (!this.#isAway) {
      this.#isAway = true;
      this.#round++;
      this.#hasBorrowed = false;
      gate.joinFleet(false);
      gate.keepToShare(Math.max(this.#share / 2, 1 / (2 * this.#processes)), now);
      changed();
    }
    if (globalConcurrency === undefined || (this.#slots !== undefined && now < this.#slotsUntil)) return;
    const last = this.#slots ?? globalConcurrency / SUPPOSED_PROCESSES;
    this.#slotsUntil = Number.POSITIVE_INFINITY;
    this.#slots = Math.max(1, Math.floor(last / 2));
    gate.lendSlots(this.#slots);
    changed();
  }

  /** Gives everything back. Rejects where the store is away. */
  async leave(shared: SharedState): Promise<void> {
    const { queue, gate, process, system, globalConcurrency } = this.#setup;
    const use = gate.rateUse(system.monotonic());
    const gifts: Promise<unknown>[] = [];
    if (use !== undefined && this.#hasBorrowed) {
      const ask = { by: process, want: 0, have: use.have };
      const back = (text: string | null) =>
        writeTokenPool(lendTokens(readTokenPool(text), ask, use.rate, system.now()).pool);
      gifts.push(swap(shared, tokenPoolKey(queue), tokenPoolTtlMs(use.rate), back));
    }
    if (globalConcurrency !== undefined) {
      const ask = { by: process, want: 0, used: 0 };
      const back = (text: string | null) =>
        writeSlotPool(leaseSlots(readSlotPool(text), ask, globalConcurrency, system.now()).pool);
      gifts.push(swap(shared, slotPoolKey(queue), SLOT_POOL_TTL_MS, back));
    }
    await Promise.all(gifts);
  }

  // --- tokens -----------------------------------------------------------------------------------------------------

  /** One token is at hand, and none was used: an idle process asks for nothing, and keeps no more. */
  #isContent({ spent, have, rate }: RateUse): boolean {
    return rate === this.#rate && this.#hasBorrowed && spent <= 0 && have >= 1 && have <= 1 + OUT_OF_STEP;
  }

  async #borrow(shared: SharedState, found: Versioned | undefined): Promise<void> {
    const { gate, system, process, queue, changed } = this.#setup;
    const round = this.#round;
    const now = system.monotonic();
    const use = gate.rateUse(now);
    if (use === undefined || this.#isContent(use) || (now < this.#loanAt && use.rate === this.#rate)) return;
    const { rate, have } = use;
    const ask = { by: process, want: this.#wantOf(use), have };
    gate.beginSlice(Math.max(0, have - ask.want), now + TOKEN_SLICE_MS);
    let granted = 0;
    let left = 0;
    const borrow = (text: string | null) => {
      const loan = lendTokens(readTokenPool(text), ask, rate, system.now());
      granted = Math.max(0, loan.granted);
      left = loan.pool.tokens;
      return writeTokenPool(loan.pool);
    };
    const done = await swap(shared, tokenPoolKey(queue), tokenPoolTtlMs(rate), borrow, found);
    if (round !== this.#round) return;
    this.#rate = rate;
    this.#hasBorrowed = true;
    const waitMs = loanWaitMs(rate, have + granted + left);
    this.#loanAt = system.monotonic() + waitMs * (1 - OUT_OF_STEP * system.random());
    gate.lendTokens(done ? granted : 0, this.#loanAt);
    if (granted > 0) changed();
  }

  #wantOf({ rate, spent, short }: RateUse): number {
    const most = burstOf(rate);
    const perSlice = (rate.count * TOKEN_SLICE_MS) / rate.perMs;
    if (!this.#hasBorrowed) return most;
    this.#share += (Math.min(1, Math.max(0, spent / perSlice)) - this.#share) * FOLLOW_SHARE;
    return spent <= 0 ? 1 : Math.min(most, Math.max(1, 2 * spent + short));
  }

  // --- slots ------------------------------------------------------------------------------------------------------

  async #lease(shared: SharedState, found: Versioned | undefined): Promise<void> {
    const { gate, system, process, queue, globalConcurrency, changed } = this.#setup;
    const round = this.#round;
    const now = system.monotonic();
    if (globalConcurrency === undefined || now < this.#leaseAt) return;
    const { inFlight, peak } = gate.takePeak();
    this.#slotsWanted = this.#slotsWantedFor(peak);
    const ask = { by: process, used: inFlight, want: this.#slotsWanted };
    let slots = 0;
    let owed = false;
    // n.b. while it is asked for nothing more starts than what the answer may leave.
    const lease = (text: string | null) => {
      const leased = leaseSlots(readSlotPool(text), ask, globalConcurrency, system.now());
      ({ slots, owed } = leased);
      gate.lendSlots(Math.min(this.#slots ?? 0, slots));
      return writeSlotPool(leased.pool);
    };
    const done = await swap(shared, slotPoolKey(queue), SLOT_POOL_TTL_MS, lease, found);
    const apart = 1 - OUT_OF_STEP * system.random();
    const restMs = Math.min(SLOT_SLICE_MS / 2, nextTurnMs(system.now()) + AFTER_TURN_MS);
    this.#leaseAt = now + (owed ? OWED_MS : restMs) * apart;
    if (!done || round !== this.#round) return;
    const before = this.#slots ?? 0;
    this.#slots = slots;
    this.#slotsUntil = now + SLOTS_COUNT_MS;
    gate.lendSlots(slots);
    if (slots !== before) changed();
  }

  #slotsWantedFor(peak: number): number {
    if (this.#slots === undefined || this.#slots === 0) return this.#slotsWanted;
    return peak >= this.#slots ? this.#setup.concurrency : Math.max(1, peak);
  }

  // --- breakers ---------------------------------------------------------------------------------------------------

  async #meetBreakers(shared: SharedState, found: Versioned | undefined): Promise<void> {
    const { queue } = this.#setup;
    const round = this.#round;
    let lessons: readonly Taught[] = [];
    const meet = (text: string | null) => {
      const met = this.#meetAll(readSharedBreakers(text));
      lessons = met.lessons;
      return met.changed ? writeSharedBreakers(met.records) : text;
    };
    const done = await swap(shared, sharedBreakersKey(queue), SHARED_BREAKERS_TTL_MS, meet, found);
    if (!done || round !== this.#round) return;
    for (const lesson of lessons) this.#learn(lesson);
  }

  #meetAll(found: readonly SharedBreaker[]): {
    readonly records: readonly SharedBreaker[];
    readonly changed: boolean;
    readonly lessons: readonly Taught[];
  } {
    const { gate, process, system } = this.#setup;
    const now = system.now();
    const lessons: Taught[] = [];
    let records = found;
    for (const dependency of this.#inQuestion(found)) {
      const breaker = gate.breakerOf(dependency, system.monotonic());
      if (breaker === undefined) continue;
      const known = found.find((record) => record.dependency === dependency);
      const { record, lesson } = meetBreaker(known, this.#own(dependency, breaker), process, breaker.probeMs, now);
      lessons.push({ breaker, lesson });
      if (record !== known) records = withRecord(records, dependency, record);
    }
    return { records, changed: records !== found, lessons };
  }

  /** Those that others speak of, and ours that have something to say. */
  #inQuestion(found: readonly SharedBreaker[]): ReadonlySet<string | undefined> {
    const now = this.#setup.system.monotonic();
    const own = this.#setup.gate.breakers().filter(({ breaker }) => breaker.state(now) !== 'closed');
    return new Set([...found, ...own].map(({ dependency }) => dependency));
  }

  #own(dependency: string | undefined, breaker: Breaker): OwnBreaker {
    const ahead = this.#ahead();
    const standing = breaker.standing(this.#setup.system.monotonic());
    return {
      ...standing,
      dependency,
      openedAt: standing.openedAt + ahead,
      sinceAt: standing.sinceAt + ahead,
      untilAt: standing.untilAt + ahead,
    };
  }

  #learn({ breaker, lesson }: Taught): void {
    const { system, changed } = this.#setup;
    const now = system.monotonic();
    const ahead = this.#ahead();
    switch (lesson.learn) {
      case 'nothing':
        return;
      case 'open': {
        const { at, untilAt, openings, why } = lesson.record;
        if (breaker.follow(at - ahead, untilAt - ahead, openings, why, now)) changed();
        return;
      }
      case 'ramp':
        breaker.followRamp(lesson.record.at - ahead, 'the probe of another process was healthy', now);
        changed();
        return;
      case 'probe':
        breaker.mayProbe(lesson.untilAt - ahead);
        changed();
        return;
    }
  }

  /** Epoch milliseconds less monotonic ones. */
  #ahead(): number {
    return this.#setup.system.now() - this.#setup.system.monotonic();
  }
}

/** A token that takes long to come is not asked for all the time. */
function loanWaitMs({ count, perMs }: Rate, tokens: number): number {
  return Math.min(LONGEST_LOAN_WAIT_MS, Math.max(TOKEN_SLICE_MS, ((1 - tokens) * perMs) / count));
}

interface Taught {
  readonly breaker: Breaker;
  readonly lesson: Lesson;
}
