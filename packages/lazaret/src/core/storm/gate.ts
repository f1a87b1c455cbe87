import { draw } from '../draw.ts';
import type { Rate } from '../duration.ts';
import type { Reason } from '../evidence.ts';
import { fingerprint } from '../fingerprint.ts';
import type { Failure, Outcome } from '../outcome.ts';
import type { Answer, Breaker } from './breaker.ts';
import { BY_HAND, Changes, type StormChange } from './changes.ts';
import { ALONE, type Fleet } from './fleet.ts';
import { Fuse } from './fuse.ts';
import { type Mechanism, type StormNumbers, type StormOverrides, stormNumbers } from './numbers.ts';
import { Pause } from './pause.ts';
import { RateLimit, type RateUse } from './rate-limit.ts';
import { type Scope, Scopes } from './scope.ts';
import { slowMs } from './slow.ts';
import { Systemic } from './systemic.ts';
import { CHARGED, type Verdict } from './verdict.ts';
import { type GateView, viewOfBreaker, viewOfScope } from './view.ts';

export interface GateOptions {
  /** Of the consumer: the most that ever run at once. */
  readonly concurrency: number;
  /** A handler's deadline. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  /** Starts of this queue; unlimited where it is absent. */
  readonly rate?: Rate;
  /** Mechanisms that are switched off. */
  readonly off?: readonly Mechanism[];
  readonly numbers?: StormOverrides;
}

/** A run as the gate sees it. The runtime keeps it; after it has arrived the gate alone writes the fields that are not readonly. */
export interface Passage {
  /** The message's id. Messages without one count as one and the same. */
  readonly message: string | undefined;
  /** The dependency that it will need, where that is known before it runs; or the one that it turned out to need. */
  dependency: string | undefined;
  readonly attempt: number;
  /** It came with a token: `admit` asked for it. */
  admitted: boolean;
  /** Where it runs; `undefined` before it entered and after it ended. */
  scope: Scope | undefined;
  enteredAt: number;
}

/** What a person can set. All of it has an end; `forMs` of 0 ends it now. `why` is told on. */
export type Command =
  /** As of `Breaker.pin`. */
  | {
      readonly set: 'breaker';
      readonly dependency?: string;
      readonly to: 'open' | 'half-open' | 'closed';
      readonly forMs: number;
      readonly why: string;
    }
  /** Whatever paused it, 0 resumes. */
  | { readonly set: 'paused'; readonly forMs: number; readonly why: string }
  | {
      readonly set: 'limit';
      readonly dependency?: string;
      readonly limit: number;
      readonly forMs: number;
      readonly why: string;
    }
  | { readonly set: 'rate'; readonly rate: Rate; readonly forMs: number; readonly why: string }
  /** Ends what fuse and systemic rule say of it, and a pause that they brought about. They begin to count anew. */
  | { readonly set: 'forgiven'; readonly fingerprint: string; readonly why: string };

type Failed = Extract<Outcome, { readonly failure: Failure }>;

const CLEAR = 'its share has been clear for long enough';

/**
 * Storm control of one queue: how many messages may be asked for, which may start, and whose fault a failure is. No clock and
 * no chance of its own: the same calls give the same answers. `now` is the monotonic clock, in milliseconds. Bounded memory,
 * whatever fails; a success makes no object.
 *
 * How a consumer uses it:
 *
 * 1. **Before a pull**, `admit` says for how many messages to ask. When it says 0, ask again after the next outcome or at
 *    `nextAt`, whichever comes first: one timer in all. When a pull brings fewer, `handBack` the rest.
 * 2. **Before a start**, every message asks `enter`, wherever it comes from. 0: it runs. Else it is given back, uncharged, for so
 *    many milliseconds. So what was prefetched when a breaker opened goes back when its turn comes. A run that turns out to `need`
 *    a dependency asks for that, too.
 * 3. **After an outcome and before `decide`**, `outcome`: once for each run that entered, also for a refusal; `leave` for one that
 *    ends without, or never starts. The `tempered` decision heeds what it says.
 * 4. **At the end of a turn**, `changes` are told as events, and where `breadth` is 0 nothing is kept that may not start.
 */
export class Gate {
  readonly #maxAttempts: number;
  readonly #numbers: StormNumbers;
  readonly #scopes: Scopes;
  readonly #pause: Pause;
  readonly #fuse: Fuse;
  readonly #systemic: Systemic;
  readonly #rate: RateLimit;
  readonly #changes: Changes = new Changes();
  readonly #fleet: Fleet = { ...ALONE };
  /** As many of the queue's slots, which its processes share. */
  #slots = Number.POSITIVE_INFINITY;
  #inFlight = 0;
  /** The most that ran at once since it was last asked. */
  #peak = 0;
  #successes = 0;

  constructor(options: GateOptions, now: number) {
    const { concurrency, timeoutMs, maxAttempts, rate } = options;
    const numbers = stormNumbers(options.numbers, options.off);
    this.#maxAttempts = maxAttempts;
    this.#numbers = numbers;
    this.#scopes = new Scopes(
      {
        numbers,
        concurrency,
        timeoutMs,
        told: (dependency, change) =>
          this.#changes.add({ what: 'breaker', ...(dependency === undefined ? {} : { dependency }), ...change }),
        fleet: this.#fleet,
      },
      now,
    );
    this.#pause = new Pause(numbers.pause, concurrency, (change) => this.#paused(change));
    this.#fuse = new Fuse(numbers.fuse);
    this.#systemic = new Systemic(numbers.systemic, now);
    this.#rate = new RateLimit(numbers.rate, rate, now);
  }

  // --- before a start ---------------------------------------------------------------------------------------------

  /** For how many of `want` messages to ask, while `waiting` others have arrived and not started. Takes their tokens. */
  admit(want: number, waiting: number, now: number): number {
    this.#settle(now);
    const room = Math.min(this.#room(now), this.#scopes.room(now)) - waiting;
    const admitted = Math.min(want, room);
    return admitted > 0 ? this.#rate.take(admitted, now) : 0;
  }

  /** So many were admitted and did not come, or did not start. */
  handBack(unused: number): void {
    this.#rate.handBack(unused);
  }

  /** When `admit` may say more by itself, after it said 0 to a wish; Infinity where only an outcome can change that. */
  nextAt(waiting: number, now: number): number {
    if (this.#room(now) <= waiting) return this.#pause.breaker.nextAt(now);
    return this.#scopes.room(now) <= waiting ? this.#scopes.nextAt(now) : now + this.#rate.waitMs(now);
  }

  /** How many may run at once; 0 while nothing may start. */
  breadth(now: number): number {
    return Math.min(this.#pause.breaker.breadth(now), this.#scopes.breadth(now), this.#slots);
  }

  /** How many more may start, of whatever scope. */
  #room(now: number): number {
    return Math.min(this.#pause.breaker.room(this.#inFlight, now), this.#slots - this.#inFlight);
  }

  /** 0: the message runs from now on. Else it may not, and comes back after so many milliseconds. */
  enter(passage: Passage, now: number): number {
    if (!passage.admitted && this.#rate.take(1, now) === 0) return Math.max(1, Math.ceil(this.#rate.waitMs(now)));
    passage.admitted = true;
    const scope = this.#scopes.of(passage.dependency, now);
    const full = scope.room(now) <= 0 || this.#room(now) <= 0;
    if (full || !this.#takesItsTurn(scope, passage, now)) {
      this.#handBackItsToken(passage);
      return this.#turnAway(scope, passage, now);
    }
    passage.admitted = false;
    this.#inFlight++;
    if (this.#inFlight > this.#peak) this.#peak = this.#inFlight;
    this.#moveIn(scope, passage, now);
    return 0;
  }

  /**
   * A run turns out to need `dependency`. 0: it goes on, and what becomes of it says something about that. Else it may not. It has
   * been let through a pause of the queue already.
   */
  need(passage: Passage, dependency: string, now: number): number {
    const { scope, enteredAt } = passage;
    const needed = this.#scopes.of(dependency, now);
    if (scope === undefined || scope === needed) return 0;
    const key = draw(passage.message ?? '', 0);
    if (needed.room(now) <= 0 || needed.breaker.avoids(key)) return this.#turnAway(needed, passage, now);
    needed.breaker.start(key, now);
    if (needed.breaker.state(now) === 'closed') needed.turnedAway = 0;
    scope.inFlight--;
    scope.breaker.left(enteredAt, now);
    passage.dependency = dependency;
    this.#moveIn(needed, passage, now);
    return 0;
  }

  #moveIn(scope: Scope, passage: Passage, now: number): void {
    scope.inFlight++;
    scope.entered++;
    passage.scope = scope;
    passage.enteredAt = now;
  }

  /** Why a message that needs `dependency` may not start, for people. */
  whyNot(dependency: string | undefined, now: number): string {
    const scope = this.#scopes.of(dependency, now);
    const about = scope.dependency === undefined ? '' : ` for ${scope.dependency}`;
    const why = this.#pause.breaker.why(now) || scope.breaker.why(now);
    return why === '' ? `as many run${about} as may` : `${why}${about}`;
  }

  #handBackItsToken(passage: Passage): void {
    if (!passage.admitted) return;
    passage.admitted = false;
    this.#rate.handBack(1);
  }

  #takesItsTurn(scope: Scope, { message }: Passage, now: number): boolean {
    const pause = this.#pause.breaker;
    const { breaker } = scope;
    if (pause.state(now) === 'closed' && breaker.state(now) === 'closed') {
      scope.turnedAway = 0;
      return true;
    }
    const key = draw(message ?? '', 0);
    if (pause.avoids(key) || breaker.avoids(key)) return false;
    pause.start(key, now);
    breaker.start(key, now);
    return true;
  }

  /** Not all at the same moment, and the more, the further apart: to come in vain costs a write. */
  #turnAway(scope: Scope, { message }: Passage, now: number): number {
    const { turnedAwayMs, longestTurnedAwayMs, spreadMs, longestSpreadMs } = this.#numbers.scopes;
    const apartMs = Math.min(longestSpreadMs, ++scope.turnedAway * spreadMs);
    const shutMs = Math.max(waitOf(this.#pause.breaker, now), waitOf(scope.breaker, now), turnedAwayMs);
    const closedForMs = Math.min(shutMs, longestTurnedAwayMs);
    return Math.ceil(closedForMs + apartMs * draw(message ?? '', scope.turnedAway));
  }

  /** What ends by time alone, also while nothing fails. */
  #settle(now: number): void {
    for (const print of this.#fuse.settle(now)) this.#tell('fuse-cleared', print, CLEAR);
    for (const print of this.#systemic.settle(now)) this.#tell('systemic-cleared', print, CLEAR);
  }

  // --- after an outcome -------------------------------------------------------------------------------------------

  /** How a run ended, or that a message was refused without one. `chance`, uniform in [0, 1), spreads waits; a success needs none. */
  outcome(passage: Passage, outcome: Outcome, now: number, chance: number): Verdict {
    const scope = this.#leave(passage);
    switch (outcome.kind) {
      case 'done':
      case 'skip':
        if (scope !== undefined) this.#succeeded(scope, passage, now, chance);
        return CHARGED;
      case 'failed':
      case 'timeout':
        return this.#failed(scope ?? this.#scopes.of(passage.dependency, now), passage, outcome, now, chance);
      case 'retryIn':
        this.#said(scope, passage, now, chance);
        return this.#isLast(passage) ? this.#letter(printOfReason('exhausted'), CHARGED, now, chance) : CHARGED;
      case 'quarantine':
        this.#said(scope, passage, now, chance);
        return this.#letter(printOfReason('manual'), CHARGED, now, chance);
      case 'refused':
        return this.#refused(outcome.reason, now, chance);
      case 'givenBack':
        if (scope !== undefined) this.#left(scope, passage, now);
        return CHARGED;
    }
  }

  /** It was lost or given up, or never starts. */
  leave(passage: Passage, now: number): void {
    const scope = this.#leave(passage);
    if (scope !== undefined) this.#left(scope, passage, now);
  }

  /** Its scope; a second outcome of one run finds none. */
  #leave(passage: Passage): Scope | undefined {
    this.#handBackItsToken(passage);
    const { scope } = passage;
    if (scope === undefined) return undefined;
    passage.scope = undefined;
    scope.inFlight--;
    this.#inFlight--;
    return scope;
  }

  #succeeded(scope: Scope, { enteredAt, attempt }: Passage, now: number, chance: number): void {
    this.#successes++;
    scope.guilt.succeeded(now);
    scope.budget.earn(attempt, now);
    scope.concurrency.succeeded(now - enteredAt, scope.inFlight + 1, now);
    scope.breaker.answered('well', enteredAt, now, chance, 0);
    this.#pause.answered('well', undefined, enteredAt, now, chance);
    this.#fuse.ended(now);
    this.#systemic.succeeded(now);
  }

  /** The handler said by name what is to become of it: an answer, and neither success nor failure. */
  #said(scope: Scope | undefined, { enteredAt }: Passage, now: number, chance: number): void {
    this.#fuse.ended(now);
    if (scope === undefined) return;
    scope.concurrency.answered(scope.inFlight + 1);
    scope.breaker.answered('well', enteredAt, now, chance, 0);
    this.#pause.answered('well', undefined, enteredAt, now, chance);
  }

  #left(scope: Scope, { enteredAt }: Passage, now: number): void {
    scope.breaker.left(enteredAt, now);
    this.#pause.breaker.left(enteredAt, now);
  }

  #failed(scope: Scope, passage: Passage, outcome: Failed, now: number, chance: number): Verdict {
    const { failure } = outcome;
    const { enteredAt } = passage;
    const answer = answerOf(outcome);
    if (answer === 'well') scope.concurrency.answered(scope.inFlight + 1);
    else scope.concurrency.suffered(now);
    scope.breaker.answered(answer, enteredAt, now, chance, failure.retryAfterMs ?? 0);
    this.#fuse.ended(now);
    const print = this.#printOf(failure, passage, now);
    this.#pause.answered(answer, print, enteredAt, now, chance);

    const judged = this.#judge(scope, passage, failure, print, now, chance);
    const isLetter = failure.kind === 'poison' || (judged.charged && this.#isLast(passage));
    if (isLetter && print !== undefined) return this.#letter(print, judged, now, chance);
    return this.#retry(scope, failure, judged, now);
  }

  /** Taking one costs more than all the rest, so that it is only taken where somebody looks at it. */
  #printOf(failure: Failure, passage: Passage, now: number): string | undefined {
    const unseen = failure.kind === 'transient' && !this.#isLast(passage) && this.#pause.state(now) === 'closed';
    return unseen ? undefined : fingerprint({ error: failure.error, reason: failure.reason });
  }

  /** A counter that cannot be one counts as the last attempt, as it does in `decide`. */
  #isLast({ attempt }: Passage): boolean {
    return !(Number.isSafeInteger(attempt) && attempt >= 1 && attempt < this.#maxAttempts);
  }

  /** Waits for its tokens; fresh messages don't. */
  #retry(scope: Scope, { kind, retryAfterMs }: Failure, judged: Verdict, now: number): Verdict {
    const { cost, throttledCost } = this.#numbers.budget;
    const throttled = kind === 'transient' && retryAfterMs !== undefined;
    const waitMs = scope.budget.spend(throttled ? throttledCost : cost, now);
    return waitMs <= judged.slowMs ? judged : { ...judged, slowMs: waitMs };
  }

  // --- whose fault it is ------------------------------------------------------------------------------------------

  #judge(
    scope: Scope,
    passage: Passage,
    failure: Failure,
    print: string | undefined,
    now: number,
    chance: number,
  ): Verdict {
    const message = passage.message ?? '';
    if (failure.kind !== 'unknown' || print === undefined) this.#systemic.failed(message, now);
    else {
      const { change, systemicAt, flood, why } = this.#systemic.unknown(print, message, now);
      if (change !== undefined) this.#tell(change === 'cleared' ? 'systemic-cleared' : change, print, why);
      if (flood) this.#pause.tripFor(print, why, now, chance);
      if (systemicAt !== undefined) return this.#uncharged(why, now - systemicAt, chance);
    }
    if (this.#pause.isFor(print, now)) return this.#uncharged(this.#pause.breaker.why(now), 0, chance);
    return failure.kind === 'transient' ? this.#judgeDependency(scope, message, failure, now) : CHARGED;
  }

  #judgeDependency(scope: Scope, message: string, { dependency }: Failure, now: number): Verdict {
    const blamed = dependency === undefined ? scope : this.#scopes.of(dependency, now);
    const sight = isDown(scope, now) || isDown(blamed, now) ? 'proven' : blamed.entered === 0 ? 'blind' : 'clear';
    if (blamed.guilt.failed(draw(message, 0), this.#successes, sight, now) === 'charged') return CHARGED;
    const name = blamed.dependency ?? 'what this queue depends on';
    return { charged: false, slowMs: 0, fused: false, why: `other messages fail on ${name} too` };
  }

  #uncharged(why: string, lastedMs: number, chance: number): Verdict {
    return { charged: false, slowMs: slowMs(lastedMs, chance, this.#numbers.slow), fused: false, why };
  }

  // --- what would be a letter -------------------------------------------------------------------------------------

  #letter(print: string, judged: Verdict, now: number, chance: number): Verdict {
    const { change, fusedAt, flood, why } = this.#fuse.letter(print, now);
    if (change !== undefined) this.#tell(change === 'cleared' ? 'fuse-cleared' : change, print, why);
    if (flood) this.#pause.tripFor(print, why, now, chance);
    if (fusedAt !== undefined) return { ...this.#uncharged(why, now - fusedAt, chance), fused: true };
    if (!this.#pause.isFor(print, now)) return judged;
    return { ...this.#uncharged(this.#pause.breaker.why(now), 0, chance), fused: true };
  }

  /** Crashes and parked successors go in whatever there is: to run them again would crash, or break the order. */
  #refused(reason: Reason, now: number, chance: number): Verdict {
    if (reason === 'crash' || reason === 'blocked-key') return CHARGED;
    this.#fuse.ended(now);
    return this.#letter(printOfReason(reason), CHARGED, now, chance);
  }

  // --- shared with other processes --------------------------------------------------------------------------------

  /** What its rate needs and has; `undefined` where it has none. */
  rateUse(now: number): RateUse | undefined {
    return this.#rate.use(now);
  }

  /** As of `RateLimit`. */
  beginSlice(back: number, nextAt: number): void {
    this.#rate.beginSlice(back, nextAt);
  }

  /** As of `RateLimit.lend`. */
  lendTokens(tokens: number, nextAt: number): void {
    this.#rate.lend(tokens, nextAt);
  }

  /** So many may run at once, whatever else allows more. */
  lendSlots(slots: number): void {
    this.#slots = slots;
  }

  /** How many run, and ran at most at once since this was last asked. */
  takePeak(): { readonly inFlight: number; readonly peak: number } {
    const peak = this.#peak;
    this.#peak = this.#inFlight;
    return { inFlight: this.#inFlight, peak };
  }

  /** Others are heard: one of all probes. Or nobody is, and each decides by itself. */
  joinFleet(joined: boolean): void {
    this.#fleet.joined = joined;
  }

  /** So many consume the queue, this one included: their limits grow as one. Holds also while nobody can be asked. */
  countProcesses(processes: number): void {
    this.#fleet.processes = Math.max(1, processes);
  }

  /** Nobody can be asked: `share` of the rate from now on. */
  keepToShare(share: number, now: number): void {
    this.#rate.keepTo(share, now);
  }

  /** By dependency; `undefined` for one that finds no place of its own. */
  breakerOf(dependency: string | undefined, now: number): Breaker | undefined {
    const scope = this.#scopes.of(dependency, now);
    return scope.dependency === dependency ? scope.breaker : undefined;
  }

  /** Of all scopes, our own first. */
  breakers(): readonly { readonly dependency: string | undefined; readonly breaker: Breaker }[] {
    return this.#scopes.all();
  }

  // --- by hand, seen and told -------------------------------------------------------------------------------------

  set(command: Command, now: number): void {
    switch (command.set) {
      case 'breaker': {
        const { breaker } = this.#scopes.of(command.dependency, now);
        breaker.pin(command.to, command.forMs, BY_HAND + command.why, now);
        return;
      }
      case 'paused':
        this.#pause.set(command.forMs, BY_HAND + command.why, now);
        return;
      case 'limit':
        this.#scopes.of(command.dependency, now).concurrency.pin(command.limit, command.forMs, now);
        this.#changes.add(limited(command));
        return;
      case 'rate':
        this.#rate.pin(command.rate, command.forMs, now);
        this.#changes.add(limited(command));
        return;
      case 'forgiven':
        this.#forgive(command.fingerprint, BY_HAND + command.why, now);
        return;
    }
  }

  #forgive(print: string, why: string, now: number): void {
    if (this.#fuse.reset(print)) this.#tell('fuse-cleared', print, why);
    if (this.#systemic.reset(print)) this.#tell('systemic-cleared', print, why);
    if (this.#pause.isFor(print, now)) this.#pause.set(0, why, now);
  }

  view(now: number): GateView {
    const tokens = this.#rate.tokens(now);
    const { breaker, fingerprint: print } = this.#pause;
    return {
      inFlight: this.#inFlight,
      ...(tokens === undefined ? {} : { tokens }),
      ...(this.#slots === Number.POSITIVE_INFINITY ? {} : { slots: this.#slots }),
      pause: { ...viewOfBreaker(breaker, now), ...(print === undefined ? {} : { fingerprint: print }) },
      scopes: this.#scopes.all().map((scope) => viewOfScope(scope, now)),
      fused: this.#fuse.tripped().map((strand) => strand.fingerprint),
      systemic: this.#systemic.tripped().map((strand) => strand.fingerprint),
    };
  }

  /** What happened since it was last asked, in order. */
  changes(): readonly StormChange[] {
    return this.#changes.take();
  }

  #paused(change: StormChange): void {
    this.#changes.add(change);
    if (change.what !== 'resumed') return;
    // What was counted before would pause it again at once.
    this.#fuse.forget();
    this.#systemic.forget();
  }

  #tell(what: 'fused' | 'fuse-cleared' | 'systemic' | 'systemic-cleared', print: string, why: string): void {
    this.#changes.add({ what, fingerprint: print, why });
  }
}

function limited(command: Extract<Command, { readonly set: 'limit' | 'rate' }>): StormChange {
  const { set, forMs, why, ...to } = command;
  return { what: 'limited', ...to, forMs, why: BY_HAND + why };
}

/** A handler past its deadline says nothing of the dependency, unless its classifier says so. */
function answerOf({ kind, failure }: Failed): Answer {
  if (failure.kind === 'transient') return 'sick';
  return kind === 'timeout' ? 'hung' : 'well';
}

function isDown({ breaker }: Scope, now: number): boolean {
  const state = breaker.state(now);
  return state === 'open' || state === 'half-open';
}

function waitOf(breaker: Breaker, now: number): number {
  const at = breaker.nextAt(now);
  return at === Number.POSITIVE_INFINITY ? 0 : at - now;
}

function printOfReason(reason: Reason): string {
  return fingerprint({ reason });
}
