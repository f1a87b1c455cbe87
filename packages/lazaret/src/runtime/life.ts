import type { Counting } from '../core/counting-sentence.ts';
import { decide, precheck } from '../core/decide.ts';
import { draw } from '../core/draw.ts';
import { LazaretError } from '../core/errors.ts';
import type { Decision, Outcome } from '../core/outcome.ts';
import type { Terms } from '../core/placement.ts';
import { due, place, placeElsewhere } from '../core/placement.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import type { Gate } from '../core/storm/gate.ts';
import { tempered } from '../core/storm/verdict.ts';
import type { Delivery, Settlement, Subscription } from '../ports/broker.ts';
import type { Journal } from '../ports/journal.ts';
import type { System } from '../ports/system.ts';
import { Bookkeeper, leavesToJournal } from './bookkeeper.ts';
import type { Refusal, Timekeeper } from './context.ts';
import { deadlineError } from './deadline-error.ts';
import type { DependencyOf } from './dependency-of.ts';
import type { Announcer } from './events.ts';
import { evidenceOf } from './evidence-of.ts';
import type { Classifier, Performer } from './inline.ts';
import { keyLanes, type Lanes, noLanes } from './lanes.ts';
import { marginOf } from './margin.ts';
import { type Parking, parking } from './parking.ts';
import { Report } from './report.ts';
import { Run } from './run.ts';
import { Settler } from './settler.ts';
import { Slots } from './slots.ts';
import { Starter } from './starter.ts';
import { termsOf } from './terms.ts';
import { until } from './until.ts';
import { Watch } from './watch.ts';

export interface LifeSetup {
  readonly queue: string;
  readonly policy: ConsumerPolicy;
  readonly performer: Performer;
  readonly fail: Classifier;
  /** Names what a message will need, where the user says how. */
  readonly dependency: DependencyOf | undefined;
  /** Storm control: whether a message may start, and whose fault its failure is. */
  readonly gate: Gate;
  readonly subscription: Subscription;
  /** In a store; used where the broker leaves it something to remember and has no journal of its own. */
  readonly journal: Journal | undefined;
  readonly system: System;
  readonly events: Announcer;
  /** Something got ready: call `turn` at the end of this loop turn. */
  wake(): void;
  /** It may have killed its process twice. It keeps its lease here until `runAlone`. */
  setAside(run: Run): void;
}

type FinalDecision = Exclude<Decision, { verb: 'hold' }>;
type Hold = Extract<Decision, { verb: 'hold' }>;

/** Successors of a dead key that found no place in the quarantine look again after this long. */
const PARKING_FULL_MS = 30_000;
/** What cannot start now, for a reason that passes, is looked at again after this long. */
const BUSY_MS = 1_000;
/** A heartbeat that is not answered is waited for so long at most. */
const PATIENCE_MS = 5_000;
/** Of the time that a broker without leases leaves us: who takes back what is late takes back all that it gave us. */
const TRUSTED = 0.8;
const TAKEN_BACK = 'the broker took it back';
const NEVER = Number.POSITIVE_INFINITY;

const ACK: FinalDecision = { verb: 'ack' };
const STOPPING: Outcome = { kind: 'givenBack', delayMs: 0, why: 'shutdown' };
const KEY_DIED: Outcome = {
  kind: 'refused',
  reason: 'blocked-key',
  why: 'an earlier message of its key went into the quarantine',
};

/**
 * The life of every message of one queue, in a fixed order:
 * arrive → key lane → due? → precheck → gate → start → handler → whose fault → decide → settle | hold → report.
 */
export class Life implements Timekeeper {
  readonly report: Report;
  readonly slots: Slots;
  readonly #setup: LifeSetup;
  readonly #policy: ConsumerPolicy;
  readonly #system: System;
  readonly #watch: Watch;
  /** Of the journal that lives in a store, where it is used. */
  readonly #books: Bookkeeper | undefined;
  readonly #starter: Starter;
  readonly #settler: Settler;
  readonly #lanes: Lanes;
  readonly #parking: Parking;
  /** May start as soon as a slot is free. */
  readonly #ready: Run[] = [];
  /** Their settlements wait for a heartbeat under way. */
  readonly #behindBeat = new Set<Run>();
  /** Receipts of what was lost on its way from the driver to here. */
  readonly #lostUnseen = new Set<unknown>();
  #stopping = false;
  /** Somebody runs alone: held messages do not start again. */
  #paused = false;

  constructor(setup: LifeSetup) {
    const { policy, system, subscription } = setup;
    this.#setup = setup;
    this.#policy = policy;
    this.#system = system;
    this.report = new Report(setup.queue, setup.events, system);
    this.slots = new Slots(policy.concurrency);
    this.#lanes = policy.ordering === 'key' ? keyLanes(policy.laneCap) : noLanes;
    this.#parking = parking(policy.parkCap);
    this.#watch = new Watch(subscription, system, policy, {
      deadline: (run) => this.#passedDeadline(run),
      failing: (run) => this.#leaseFails(run),
      lost: (run, why) => this.#lost(run, why),
      due: (run) => this.#dueAgain(run),
      trouble: (error) => this.report.trouble('extend', error),
    });
    this.#books = this.#openBooks();
    this.#starter = new Starter(subscription.journal ?? this.#books, this.#books !== undefined, policy, {
      started: (run) => this.#runBegun(run, system.monotonic()),
      ended: (run) => this.#end(run, { kind: 'skip', why: 'it was settled before' }, ACK),
      suspect: (run) => this.#setAside(run),
      convicted: (run) => this.#conclude(run, this.#refusalOf(run)!),
      busy: (run) => this.#release(run, this.#about(BUSY_MS), 'a living owner has it open'),
      refused: (run) => this.#release(run, this.#about(BUSY_MS), 'the journal did not answer'),
      tooLate: (run, history) => this.#books?.endUnrun(run.delivery, history),
      trouble: (error) => this.report.trouble('begin', error),
    });
    this.#settler = new Settler(subscription, system, this.#books, {
      settled: (run, settlement) => this.#settled(run, settlement),
      lost: (run, why) => this.#lost(run, why),
      trouble: (error) => this.report.trouble('settle', error),
      again: () => setup.wake(),
    });
  }

  #openBooks(): Bookkeeper | undefined {
    const { subscription, journal, system } = this.#setup;
    const { capabilities } = subscription;
    if (journal === undefined || subscription.journal !== undefined || !leavesToJournal(capabilities)) return undefined;
    return new Bookkeeper(journal, capabilities.failures, system, {
      trouble: (verb, error) => this.report.trouble(verb, error),
    });
  }

  // --- arriving ---------------------------------------------------------------------------------------------------

  arrive(deliveries: readonly Delivery[]): void {
    const now = this.#system.monotonic();
    for (const delivery of deliveries) {
      const run = this.#take(delivery, now);
      run.admitted = true;
      if (this.#lostUnseen.has(delivery.receipt)) this.#lost(run, TAKEN_BACK);
      else this.#arrive(run, now);
    }
    this.#lostUnseen.clear();
  }

  /** The suspect that is asked for while nothing else of this process is started or unsettled. */
  arriveAlone(delivery: Delivery): Run {
    return this.#take(delivery, this.#system.monotonic());
  }

  runAlone(run: Run): void {
    run.alone = true;
    this.#arrive(run, this.#system.monotonic());
  }

  #take(delivery: Delivery, now: number): Run {
    const run = new Run(delivery, now);
    const { leaseMs } = delivery;
    if (this.#setup.subscription.capabilities.lease) {
      run.leaseEndsAt = now + (leaseMs ?? this.#policy.leaseMs);
      run.beatAt = now + (this.#policy.heartbeatMs ?? NEVER);
      // n.b. without a heartbeat the deadline has to leave time for what is written at the end.
      if (this.#policy.heartbeatMs === undefined)
        run.capAt = run.leaseEndsAt - marginOf(leaseMs ?? this.#policy.leaseMs);
    } else if (leaseMs !== undefined) run.capAt = now + TRUSTED * leaseMs;
    this.#watch.take(run);
    this.report.arrived(delivery);
    return run;
  }

  #arrive(run: Run, now: number): void {
    if (this.#stopping) this.#release(run, this.#restOf(run), 'shutdown');
    else if (this.#lanes.enter(run)) this.#comeUp(run, now);
  }

  // --- starting ---------------------------------------------------------------------------------------------------

  /** Nothing of its key is before it: it waits for its time, is refused, or starts when a slot is free. */
  #comeUp(run: Run, now: number): void {
    const { delivery } = run;
    const early = delivery.notBefore === undefined ? undefined : due(delivery.notBefore, this.#terms(run));
    if (early !== undefined) {
      const delayMs = delivery.notBefore! - this.#system.now();
      this.#end(run, { kind: 'givenBack', delayMs, why: 'it is not due yet' }, early);
      return;
    }
    const refused = this.#refusalOf(run);
    if (refused !== undefined) this.#refuse(run, refused);
    else if (this.slots.free > 0) this.#start(run, now);
    else this.#ready.push(run);
  }

  #refusalOf({ delivery }: Run): Outcome | undefined {
    return precheck(this.#policy, {
      strikes: delivery.strikes ?? 0,
      bodyBytes: delivery.message.body?.byteLength ?? 0,
      maxBodyBytes: this.#policy.maxBodyBytes,
      blocked: this.#policy.ordering === 'key' && delivery.blocked === true,
    });
  }

  #refuse(run: Run, refused: Outcome): void {
    const key = refused.kind === 'refused' && refused.reason === 'blocked-key' ? run.delivery.message.key : undefined;
    if (key === undefined || this.#parking.admit(key)) this.#conclude(run, refused);
    else this.#release(run, this.#about(PARKING_FULL_MS), 'its key is dead, and enough of it is in the quarantine');
  }

  #start(run: Run, now: number): void {
    if (this.#isTooLate(run, now)) {
      this.#giveUpLate(run);
      return;
    }
    const { gate, dependency } = this.#setup;
    if (dependency !== undefined) run.dependency = dependency(run);
    const waitMs = gate.enter(run, now);
    if (waitMs > 0) {
      this.#release(run, waitMs, gate.whyNot(run.dependency, now));
      return;
    }
    this.slots.become(run, 'running');
    if (this.#starter.start(run)) this.#run(run, now);
    else this.#setup.wake();
  }

  #giveUpLate(run: Run): void {
    const why = 'waiting left it too little time before the broker takes it back';
    const elsewhere = placeElsewhere({ verb: 'release', delayMs: BUSY_MS }, this.#terms(run));
    this.#end(run, { kind: 'givenBack', delayMs: BUSY_MS, why }, elsewhere);
  }

  /** A run that the broker's cap would cut short before half of its time would be charged for what waiting cost. */
  #isTooLate({ capAt, pulledAt }: Run, now: number): boolean {
    const { heldAtMostMs } = this.#setup.subscription.capabilities;
    const wholeMs = heldAtMostMs === undefined ? capAt - pulledAt : TRUSTED * heldAtMostMs;
    return capAt - now < Math.min(this.#policy.timeoutMs, wholeMs) / 2;
  }

  #startReady(): void {
    while (this.#ready.length > 0 && this.slots.free > 0) {
      const run = this.#ready.shift()!;
      if (run.state === 'waiting') this.#start(run, this.#system.monotonic());
    }
  }

  /** The journal may have taken so long that a handler would be charged for it. */
  #runBegun(run: Run, now: number): void {
    if (this.#isTooLate(run, now)) this.#giveUpLate(run);
    else this.#run(run, now);
  }

  /** The deadline is the handler's: a journal that takes its time to begin does not use it up. */
  #run(run: Run, now: number): void {
    this.#setDeadline(run, now);
    if (run.alone) this.report.runningAlone(run);
    void this.#perform(run);
  }

  #setDeadline(run: Run, now: number): void {
    run.startedAt = now;
    run.deadlineAt = Math.min(now + this.#policy.timeoutMs, run.capAt);
    this.#watch.look(run);
  }

  /** A handler that was given up meanwhile is not listened to: its message may be in other hands, or run here again. */
  async #perform(run: Run): Promise<void> {
    const episode = run.begin();
    const outcome = await this.#setup.performer.perform(run, this);
    if (episode.listened) this.#conclude(run, outcome);
    else this.#abandonedReturned();
  }

  // --- ending -----------------------------------------------------------------------------------------------------

  #conclude(run: Run, outcome: Outcome): void {
    // n.b. a handler that returns because the app stops has not done its work.
    const meant = this.#stopping && run.aborted && isOwnEnd(outcome) ? STOPPING : outcome;
    if (meant.kind === 'done') {
      this.#setup.gate.outcome(run, meant, this.#system.monotonic(), 0);
      this.#end(run, meant, ACK);
      return;
    }
    const decision = this.#decide(run, meant);
    this.#end(
      run,
      meant,
      this.#stopping ? placeElsewhere(decision, this.#terms(run)) : place(decision, this.#terms(run)),
    );
  }

  /** Only its own guilt is charged. What is not comes again at a random time: by its attempt it would always be the same one. */
  #decide(run: Run, outcome: Outcome): Decision {
    const system = this.#system;
    const verdict = this.#setup.gate.outcome(run, outcome, system.monotonic(), system.random());
    const { charged, why } = verdict;
    run.uncharged = why;
    const decision = decide(this.#policy, outcome, {
      attempt: run.delivery.attempt,
      charged,
      draw: charged ? (n) => draw(run.drawId(system), n) : () => system.random(),
    });
    return tempered(decision, verdict);
  }

  #terms(run: Run): Terms {
    return termsOf(run, this.#setup.subscription.capabilities, this.#policy, this.slots, this.#system);
  }

  /** Settled or held. Its slot is free from here on. */
  #end(run: Run, outcome: Outcome, decision: Decision): void {
    run.outcome = outcome;
    this.#leaveGate(run);
    if (run.episode !== undefined) run.episode.listened = false;
    if (decision.verb === 'hold') this.#hold(run, decision);
    else this.#settle(run, outcome, decision);
    this.#startReady();
    this.#setup.wake();
  }

  /** Only who has not told it an outcome is still in there. */
  #leaveGate(run: Run): void {
    if (run.scope !== undefined || run.admitted) this.#setup.gate.leave(run, this.#system.monotonic());
  }

  /** Heartbeat and deadline end before anything is written, and whoever waited behind it goes its way. */
  #settle(run: Run, outcome: Outcome, decision: FinalDecision): void {
    this.#watch.drop(run);
    this.slots.become(run, 'over');
    this.#handOver(run, this.#settlementOf(run, outcome, decision));
    if (decision.verb === 'ack') this.#letNextRun(run);
    else if (decision.verb !== 'quarantine') this.#sendAfter(run, decision.delayMs);
  }

  #settlementOf(run: Run, outcome: Outcome, decision: FinalDecision): Settlement {
    const { delivery } = run;
    if (decision.verb === 'ack') return { delivery, verb: 'ack' };
    if (decision.verb !== 'quarantine') return { delivery, ...decision };
    const evidence = evidenceOf(run, outcome, decision.reason, this.#system.now(), this.#policy.version);
    return { delivery, verb: 'deadLetter', evidence };
  }

  /** A heartbeat under way could lengthen what a backoff shortens, so it is waited for. */
  #handOver(run: Run, settlement: Settlement): void {
    const { extending } = run;
    if (extending === undefined || (settlement.verb !== 'retry' && settlement.verb !== 'release')) {
      this.#settler.add(run, settlement);
      return;
    }
    this.#behindBeat.add(run);
    const endAt = Math.min(run.leaseEndsAt, this.#system.monotonic() + PATIENCE_MS);
    void until(this.#system, endAt, extending).then(() => {
      this.#behindBeat.delete(run);
      this.#settler.add(run, settlement);
      this.#setup.wake();
    });
  }

  /** Successors of a dead message are parked when its letter is confirmed, and not before. */
  #settled(run: Run, settlement: Settlement): void {
    if (settlement.verb !== 'hold') run.confirmed = true;
    else if (run.settlement === settlement) this.#holdConfirmed(run);
    this.#books?.settled(run, settlement);
    this.report.settled(run, settlement);
    if (settlement.verb === 'deadLetter')
      for (const successor of this.#lanes.scatter(run)) this.#refuse(successor, KEY_DIED);
  }

  #letNextRun(run: Run): void {
    this.#parking.reopen(run.delivery.message.key);
    const next = this.#lanes.leave(run);
    if (next !== undefined) this.#comeUp(next, this.#system.monotonic());
  }

  /** Whoever waited behind it comes back after it. */
  #sendAfter(run: Run, delayMs: number): void {
    for (const successor of this.#lanes.scatter(run))
      if (!successor.isLost) this.#release(successor, delayMs, 'an earlier message of its key comes first');
  }

  /** What is left of its wait, here or as a stage of a longer one. */
  #restOf(run: Run): number {
    const held = run.state === 'held' ? run.dueAt - this.#system.monotonic() : 0;
    return Math.max(0, held, (run.delivery.notBefore ?? 0) - this.#system.now());
  }

  /** Given back, uncharged. */
  #release(run: Run, delayMs: number, why: string): void {
    this.#conclude(run, { kind: 'givenBack', delayMs, why });
  }

  /** ±20 %, so that what was turned away together does not come back together. */
  #about(ms: number): number {
    return Math.round(ms * (0.8 + 0.4 * this.#system.random()));
  }

  // --- waiting here -----------------------------------------------------------------------------------------------

  #hold(run: Run, decision: Hold): void {
    this.slots.become(run, 'held');
    run.dueAt = this.#system.monotonic() + decision.delayMs;
    this.#watch.look(run);
    this.#handOver(run, { delivery: run.delivery, ...decision });
    if (decision.charged) this.report.held(run, decision.delayMs);
    run.again(
      decision.charged,
      this.#books !== undefined || this.#setup.subscription.capabilities.crashEvidence === 'exact',
    );
  }

  #holdConfirmed(run: Run): void {
    run.settlement = undefined;
    if (run.state === 'held' && run.dueAt <= this.#system.monotonic()) this.#dueAgain(run);
  }

  #dueAgain(run: Run): void {
    // n.b. a hold that is confirmed after the next start would end that one.
    if (this.#paused || run.settlement?.verb === 'hold') run.dueAt = this.#system.monotonic() + BUSY_MS;
    else if (run.alone) this.#setAside(run);
    else {
      this.slots.become(run, 'waiting');
      this.#arrive(run, this.#system.monotonic());
    }
  }

  /** Keeps its lease and waits until it may run alone. */
  #setAside(run: Run): void {
    run.alone = false;
    this.#leaveGate(run);
    this.slots.become(run, 'waiting');
    this.#setup.setAside(run);
    this.#startReady();
  }

  // --- what time and the broker do to it --------------------------------------------------------------------------

  #passedDeadline(run: Run): void {
    const error = deadlineError(run.deadlineAt - run.startedAt);
    this.#abandon(run, error);
    this.#conclude(run, { kind: 'timeout', failure: this.#setup.fail(error) });
  }

  /** Its lease could not be lengthened: it is given back while it is ours, so that it costs no strike. */
  #leaseFails(run: Run): void {
    this.#abandon(run, notOurs('its lease could not be lengthened'));
    this.#release(run, 0, 'its lease could not be lengthened');
  }

  lost(deliveries: readonly Delivery[]): void {
    const receipts = new Set(deliveries.map(({ receipt }) => receipt));
    this.#settler.lossTold(receipts);
    const inHand = [...this.#watch.hands, ...this.#settler.runs, ...this.#behindBeat];
    const gone = inHand.filter(({ delivery }) => receipts.has(delivery.receipt));
    for (const { delivery } of gone) receipts.delete(delivery.receipt);
    for (const receipt of receipts) this.#lostUnseen.add(receipt);
    this.#loseAll(gone, TAKEN_BACK);
  }

  #lost(run: Run, why: string): void {
    this.#loseAll([run], why);
  }

  /** All of them are let go before anybody else moves up: who waited behind one may be lost with it. */
  #loseAll(runs: readonly Run[], why: string): void {
    const gone = runs.filter(({ confirmed, isLost }) => !confirmed && !isLost);
    for (const run of gone) this.#letGo(run, why);
    for (const run of gone) this.#sendAfter(run, 0);
    this.#startReady();
    this.#setup.wake();
  }

  /** Its handler is told, and goes on unheard. */
  #letGo(run: Run, why: string): void {
    run.isLost = true;
    this.#books?.endLost(run);
    this.report.lost(run, why);
    if (run.state === 'over') return;
    this.#abandon(run, notOurs(why));
    this.#leaveGate(run);
    this.#watch.drop(run);
    this.slots.become(run, 'over');
  }

  #abandon(run: Run, reason: Error): void {
    const { episode } = run;
    if (episode === undefined || !episode.listened) return;
    episode.listened = false;
    episode.abort(reason);
    this.report.abandoned(run, this.slots.abandon(), reason);
  }

  #abandonedReturned(): void {
    this.slots.returned();
    this.#setup.wake();
  }

  // --- what a run asks for ----------------------------------------------------------------------------------------

  waits(run: Run): number {
    run.deadlineAt = NEVER;
    return Math.min(this.#policy.timeoutMs, run.capAt - this.#system.monotonic()) / 2;
  }

  begins(run: Run): boolean {
    const now = this.#system.monotonic();
    if (this.#isTooLate(run, now)) return false;
    this.#setDeadline(run, now);
    return true;
  }

  prolong(run: Run, ms: number): Promise<boolean> {
    return this.#watch.prolong(run, ms);
  }

  need(run: Run, dependency: string): Refusal | undefined {
    const { gate } = this.#setup;
    const now = this.#system.monotonic();
    const forMs = gate.need(run, dependency, now);
    return forMs === 0 ? undefined : { forMs, why: gate.whyNot(dependency, now) };
  }

  // --- the turn ---------------------------------------------------------------------------------------------------

  /** Hands over what got ready in this loop turn, together. Resolves when all of it is answered; `undefined` when there is nothing. */
  turn(): Promise<unknown> | undefined {
    const settling = this.#settler.flush();
    void this.#books?.flush();
    const beginning = this.#starter.begin();
    return settling === undefined || beginning === undefined
      ? (settling ?? beginning)
      : Promise.all([settling, beginning]);
  }

  // --- seen from outside ------------------------------------------------------------------------------------------

  /** Who remembers starts and failures of this queue. */
  get counting(): Counting {
    const { subscription } = this.#setup;
    if (this.#books !== undefined) return 'store';
    if (subscription.journal !== undefined) return 'own journal';
    return leavesToJournal(subscription.capabilities) ? 'nobody' : 'broker';
  }

  /**
   * Slots that are free, within the credit: held messages and heads of keys take credit, not slots, and what waits behind a key takes
   * its lane's. None while too many handlers are abandoned or a lane is full.
   */
  get room(): number {
    if (this.slots.isStuck || this.#lanes.full) return 0;
    const inHand = this.#watch.hands.length - this.#lanes.waiting;
    const credit = 2 * this.#policy.concurrency - inHand - this.#settler.unsettled;
    return Math.min(this.slots.free - this.#ready.length, credit);
  }

  /** Arrived, with nothing before them but the slots. */
  get ready(): number {
    return this.#ready.length;
  }

  /** Started or not yet confirmed. Held messages and abandoned handlers are not counted. */
  get unfinished(): number {
    return this.slots.running + this.#ready.length + this.unsettled;
  }

  get unsettled(): number {
    return this.#settler.unsettled + this.#behindBeat.size;
  }

  /** Monotonic milliseconds since which the broker confirms no settlement; `undefined` while it does. */
  get failingSince(): number | undefined {
    return this.#settler.failingSince;
  }

  get waiting(): number {
    return this.#lanes.waiting + this.#ready.length;
  }

  /** Nothing may start: what waits for a slot goes back. */
  turnAwayReady(): void {
    const now = this.#system.monotonic();
    for (const run of this.#ready.splice(0)) if (run.state === 'waiting') this.#start(run, now);
  }

  // --- pausing and stopping ---------------------------------------------------------------------------------------

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  /** Starts nothing any more, and gives back what has not started; what was held keeps the rest of its wait. */
  stopStarting(): void {
    this.#stopping = true;
    this.#setup.performer.hurry?.();
    for (const run of [...this.#watch.hands]) {
      if (run.state === 'waiting' || run.state === 'held') this.#release(run, this.#restOf(run), 'shutdown');
    }
    this.#ready.length = 0;
  }

  abortRunning(): void {
    for (const run of this.#watch.hands) run.abort(stoppingError());
  }

  /** Gives back, uncharged, what handlers still hold; what they do from now on changes nothing. */
  abandonRunning(): void {
    for (const run of [...this.#watch.hands]) {
      this.#abandon(run, stoppingError());
      this.#release(run, 0, 'shutdown');
    }
  }

  /** What is not confirmed by now stays so. Resolves when the journal knows how all starts ended; never rejects. */
  async end(): Promise<void> {
    this.#watch.stop();
    this.#settler.end();
    await this.#books?.close();
  }
}

function isOwnEnd({ kind }: Outcome): boolean {
  return kind === 'done' || kind === 'skip' || kind === 'failed';
}

function notOurs(why: string): LazaretError {
  return new LazaretError('LZ1206', `the message is not ours any more: ${why}.`, {
    hint: 'Stop working on it: somebody else has it, or will have it soon.',
  });
}

function stoppingError(): LazaretError {
  return new LazaretError('LZ1207', 'the app is stopping.', { hint: 'The message is given back, uncharged.' });
}
