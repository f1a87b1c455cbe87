import { ALONE, type Fleet } from './fleet.ts';
import type { BreakerNumbers } from './numbers.ts';
import { Tally } from './tally.ts';

/**
 * closed: everything may start. open: nothing. half-open: one probe. ramping: a slot more every second.
 *
 *     closed → open → half-open → ramping → closed
 *               ↑         │           │
 *               └─────────┴───────────┘  too many dependency failures, or an unhealthy probe
 */
export type BreakerState = 'closed' | 'open' | 'half-open' | 'ramping';

/** What the end of a run says. well: anything but a dependency failure. hung: it passed its deadline, which is no failure and no health. */
export type Answer = 'well' | 'sick' | 'hung';

export interface BreakerChange {
  readonly state: BreakerState;
  readonly why: string;
  /** How long it stays open, or as a person set it. */
  readonly forMs?: number;
  /** Another process of the queue found it out. */
  readonly learned?: true;
}

/** How a breaker stands, for its like in other processes. */
export interface BreakerStanding {
  readonly state: BreakerState;
  /** When it last opened; the past where it never did. */
  readonly openedAt: number;
  /** When it became what it is. */
  readonly sinceAt: number;
  /** How long it stays open. */
  readonly untilAt: number;
  readonly openings: number;
  readonly why: string;
  /** As a person set it. */
  readonly pinned: boolean;
}

const BUCKETS = 10;
const PAST = Number.NEGATIVE_INFINITY;
/** A healthy answer says something about so much time. */
const WELL_FOR_MS = 2_000;

/**
 * Stops what would fail anyway. Never stuck: time alone ends `open`, a probe that stays silent makes way for another, a ramp
 * ends, and what a person set has an end. Time that jumps back takes its appointments with it.
 */
export class Breaker {
  readonly #numbers: BreakerNumbers;
  /** Slots at which the ramp is over. */
  readonly #full: number;
  readonly #told: (change: BreakerChange) => void;
  readonly #fleet: Readonly<Fleet>;
  readonly #outcomes: Tally = new Tally(BUCKETS);
  readonly #failures: Tally = new Tally(BUCKETS);
  #state: BreakerState = 'closed';
  #why = '';
  /** Openings since it was last closed. */
  #openings = 0;
  /** The message of the last probe, and whether it was asked to let another go first. */
  #lastProbe: number | undefined;
  #avoided = false;
  #probing = false;
  /** As it is because another process found it out. */
  #isLearned = false;
  // Moments. What started before `freshAt` belongs to a time that is over.
  #now = PAST;
  #since = PAST;
  #openUntil = PAST;
  #probeAt = PAST;
  #askedUntil = PAST;
  #pinnedUntil = PAST;
  #freshAt = PAST;
  #openedAt = PAST;
  #wellAt = PAST;
  /** Until then it may probe, as one of a fleet. */
  #mayProbeUntil = PAST;

  constructor(
    numbers: BreakerNumbers,
    full: number,
    told: (change: BreakerChange) => void,
    fleet: Readonly<Fleet> = ALONE,
  ) {
    this.#numbers = numbers;
    this.#full = full;
    this.#told = told;
    this.#fleet = fleet;
  }

  // --- what may start ---------------------------------------------------------------------------------------------

  state(now: number): BreakerState {
    this.#goOn(now);
    return this.#state;
  }

  /** Why it is as it is; the empty text where it is closed by itself. */
  why(now: number): string {
    return this.state(now) === 'closed' && now >= this.#pinnedUntil ? '' : this.#why;
  }

  /** How long it stays as a person set it; 0 where it lives by itself. */
  pinnedForMs(now: number): number {
    return Math.max(0, this.#pinnedUntil - now);
  }

  /** How many more may start while `inFlight` run. */
  room(inFlight: number, now: number): number {
    switch (this.state(now)) {
      case 'closed':
        return Number.POSITIVE_INFINITY;
      case 'open':
        return 0;
      case 'half-open':
        return this.#probing || !this.#mayProbe(now) ? 0 : 1;
      case 'ramping':
        return Math.max(0, this.#slots(now) - inFlight);
    }
  }

  /** How many may run at once, whatever runs. */
  breadth(now: number): number {
    switch (this.state(now)) {
      case 'closed':
        return Number.POSITIVE_INFINITY;
      case 'open':
        return 0;
      case 'half-open':
        return this.#probing || this.#mayProbe(now) ? 1 : 0;
      case 'ramping':
        return this.#slots(now);
    }
  }

  /**
   * Whether another message should probe, since this one was the last to: asked of a message, it waits once, and where it is
   * the only one it probes when it comes again.
   */
  avoids(message: number): boolean {
    if (this.#state !== 'half-open' || this.#avoided || message !== this.#lastProbe) return false;
    this.#avoided = true;
    return true;
  }

  /** A message starts, for which there was room. */
  start(message: number, now: number): void {
    if (this.#state !== 'half-open') return;
    this.#probing = true;
    this.#lastProbe = message;
    this.#probeAt = now;
  }

  /** When `room` may grow by itself; Infinity where only an answer, or nothing, makes it grow. */
  nextAt(now: number): number {
    switch (this.state(now)) {
      case 'closed':
        return Number.POSITIVE_INFINITY;
      case 'open':
        return this.#openUntil;
      case 'half-open':
        return this.#probing ? this.#probeAt + this.#numbers.silenceMs : Number.POSITIVE_INFINITY;
      case 'ramping':
        return this.#since + this.#slots(now) * this.#numbers.rampMs;
    }
  }

  // --- what ends --------------------------------------------------------------------------------------------------

  /**
   * A run that started at `startedAt` ended. `retryAfterMs` is how long the dependency asked to be left alone, 0 where it did
   * not; `chance`, uniform in [0, 1), spreads the open time.
   */
  answered(answer: Answer, startedAt: number, now: number, chance: number, retryAfterMs: number): void {
    this.#goOn(now);
    if (answer === 'sick' && retryAfterMs > 0) this.#heed(retryAfterMs, now);
    if (answer === 'well') this.#wellAt = now;
    switch (this.#state) {
      case 'closed':
      case 'ramping':
        if (startedAt >= this.#freshAt && now >= this.#pinnedUntil) this.#count(answer, now, chance);
        return;
      case 'open':
        return;
      case 'half-open':
        if (startedAt >= this.#since) this.#probed(answer, now, chance);
        return;
    }
  }

  /** A run ended without an answer: it was lost or given back. If it was the probe, another message may be one. */
  left(startedAt: number, now: number): void {
    if (this.state(now) === 'half-open' && startedAt >= this.#probeAt) this.#probing = false;
  }

  /** Opens for a reason of its owner's, as unhealthy outcomes would. Answers whether it did. */
  trip(why: string, now: number, chance: number): boolean {
    this.#goOn(now);
    if (this.#state === 'open' || this.#state === 'half-open' || now < this.#pinnedUntil) return false;
    this.#open(why, now, chance);
    return true;
  }

  /**
   * By hand, for so long: open lets nothing through, whatever anybody asks; closed lets everything through, whatever fails;
   * half-open lets one through at a time, whatever it answers. Then it lives on by itself. With 0 it does so at once, so that
   * half-open for 0 ms is a nudge to probe now.
   */
  pin(state: 'open' | 'half-open' | 'closed', forMs: number, why: string, now: number): void {
    this.#goOn(now);
    this.#pinnedUntil = now + forMs;
    this.#isLearned = false;
    switch (state) {
      case 'open':
        this.#openUntil = this.#pinnedUntil;
        break;
      case 'half-open':
        this.#probing = false;
        break;
      case 'closed':
        this.#heal(now);
        break;
    }
    this.#become(state, why, now, forMs);
  }

  // --- of a fleet -------------------------------------------------------------------------------------------------

  standing(now: number): BreakerStanding {
    const state = this.state(now);
    return {
      state,
      openedAt: this.#openedAt,
      sinceAt: this.#since,
      untilAt: this.#openUntil,
      openings: this.#openings,
      why: this.#why,
      pinned: now < this.#pinnedUntil,
    };
  }

  /**
   * Another process found it out, and opened at `openedAt`. Whose own runs mostly go well does not follow, nor who is switched off:
   * it may be the other one's own fault, or its chance. Of many processes before a dependency that fails at random one always has bad
   * luck, and would stop them all. Answers whether it did.
   */
  follow(openedAt: number, untilAt: number, openings: number, why: string, now: number): boolean {
    this.#goOn(now);
    const isOff = this.#numbers.least === Number.POSITIVE_INFINITY;
    if (now < this.#pinnedUntil || isOff || this.#doesWell(now)) return false;
    this.#openings = Math.max(this.#openings, openings);
    this.#openUntil = untilAt;
    this.#isLearned = true;
    this.#become('open', why, now, Math.max(0, untilAt - now));
    this.#openedAt = openedAt;
    this.#goOn(now);
    return true;
  }

  /** Another process's probe was healthy at `at`: the ramp of all began then. */
  followRamp(at: number, why: string, now: number): void {
    const state = this.state(now);
    if (now < this.#pinnedUntil || state === 'closed' || state === 'ramping') return;
    this.#forget(now);
    this.#isLearned = true;
    this.#become('ramping', why, now);
    this.#since = Math.min(at, now);
    this.#goOn(now);
  }

  /** It is the one of its fleet that probes, until then. */
  mayProbe(untilAt: number): void {
    this.#mayProbeUntil = untilAt;
  }

  /** How long a probe has. */
  get probeMs(): number {
    return this.#numbers.silenceMs;
  }

  #mayProbe(now: number): boolean {
    return !this.#fleet.joined || now < this.#mayProbeUntil || now < this.#pinnedUntil;
  }

  /** By its own runs, of which few are enough. */
  #doesWell(now: number): boolean {
    if ((this.#state !== 'closed' && this.#state !== 'ramping') || now - this.#wellAt >= WELL_FOR_MS) return false;
    const tick = this.#tick(now);
    return this.#failures.sum(tick) < this.#outcomes.sum(tick) * this.#numbers.share;
  }

  // --- transitions ------------------------------------------------------------------------------------------------

  /** What time alone changes. */
  #goOn(now: number): void {
    if (now < this.#now) this.#shift(this.#now - now);
    this.#now = now;
    switch (this.#state) {
      case 'closed':
        return;
      case 'open':
        if (now >= this.#openUntil) this.#halfOpen(now);
        return;
      case 'half-open':
        if (this.#probing && now >= this.#probeAt + this.#numbers.silenceMs) this.#probeAgain();
        return;
      case 'ramping':
        if (this.#slots(now) >= this.#full) this.#close(now);
        return;
    }
  }

  #count(answer: Answer, now: number, chance: number): void {
    const { windowMs, least, share } = this.#numbers;
    const tick = this.#tick(now);
    this.#outcomes.add(1, tick);
    if (answer !== 'sick') return;
    this.#failures.add(1, tick);
    const outcomes = this.#outcomes.sum(tick);
    const failures = this.#failures.sum(tick);
    if (outcomes < least || failures < outcomes * share) return;
    this.#open(`${failures} of ${outcomes} runs in ${windowMs / 1000} s were dependency failures`, now, chance);
  }

  #tick(now: number): number {
    return Math.floor((now * BUCKETS) / this.#numbers.windowMs);
  }

  #probed(answer: Answer, now: number, chance: number): void {
    if (now < this.#pinnedUntil) this.#probeAgain();
    else if (answer === 'well') this.#ramp(now);
    else this.#open(answer === 'sick' ? 'the probe failed' : 'the probe passed its deadline', now, chance);
  }

  /** Until the later of its own time and what the dependency asked for. */
  #open(why: string, now: number, chance: number): void {
    const { openMs, longestOpenMs, jitter } = this.#numbers;
    const nominalMs = Math.min(openMs * 2 ** Math.min(this.#openings, 30), longestOpenMs);
    const spreadMs = Math.round(nominalMs * (1 - jitter + 2 * jitter * chance));
    this.#openings++;
    this.#isLearned = false;
    this.#openUntil = Math.max(now + spreadMs, this.#askedUntil);
    this.#become('open', why, now, this.#openUntil - now);
  }

  #heed(retryAfterMs: number, now: number): void {
    this.#askedUntil = Math.max(this.#askedUntil, now + Math.min(retryAfterMs, this.#numbers.longestRetryAfterMs));
    if (this.#state === 'open' && now >= this.#pinnedUntil) {
      this.#openUntil = Math.max(this.#openUntil, this.#askedUntil);
    }
  }

  #halfOpen(now: number): void {
    this.#mayProbeUntil = PAST;
    this.#probeAgain();
    this.#become('half-open', this.#why, now);
  }

  #probeAgain(): void {
    this.#probing = false;
    this.#avoided = false;
  }

  /** Answers of before would open it again at once. */
  #ramp(now: number): void {
    this.#forget(now);
    this.#isLearned = false;
    this.#become('ramping', 'the probe was healthy', now);
    this.#goOn(now);
  }

  #close(now: number): void {
    this.#heal(now);
    this.#become('closed', '', now);
  }

  #heal(now: number): void {
    this.#openings = 0;
    this.#lastProbe = undefined;
    if (this.#state !== 'ramping') this.#forget(now);
  }

  #forget(now: number): void {
    this.#freshAt = now;
    this.#askedUntil = PAST;
    this.#outcomes.clear();
    this.#failures.clear();
  }

  #become(state: BreakerState, why: string, now: number, forMs?: number): void {
    this.#state = state;
    this.#why = why;
    this.#since = now;
    if (state === 'open') this.#openedAt = now;
    this.#told({
      state,
      why,
      ...(forMs === undefined ? {} : { forMs }),
      ...(this.#isLearned ? { learned: true } : {}),
    });
  }

  #slots(now: number): number {
    const { rampMs } = this.#numbers;
    return rampMs > 0 ? 1 + Math.floor((now - this.#since) / rampMs) : Number.POSITIVE_INFINITY;
  }

  #shift(backMs: number): void {
    this.#since -= backMs;
    this.#openUntil -= backMs;
    this.#probeAt -= backMs;
    this.#askedUntil -= backMs;
    this.#pinnedUntil -= backMs;
    this.#freshAt -= backMs;
    this.#openedAt -= backMs;
    this.#wellAt -= backMs;
    this.#mayProbeUntil -= backMs;
  }
}
