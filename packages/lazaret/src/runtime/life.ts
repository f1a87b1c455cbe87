import { decide, precheck } from '../core/decide.ts';
import { draw } from '../core/draw.ts';
import { LazaretError } from '../core/errors.ts';
import type { Decision, Outcome } from '../core/outcome.ts';
import type { Terms } from '../core/placement.ts';
import { due, place, placeAtClose } from '../core/placement.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import type { Delivery, Settlement, Subscription } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import { deadlineError } from './deadline-error.ts';
import type { Announcer } from './events.ts';
import { evidenceOf } from './evidence-of.ts';
import type { Classifier, Performer } from './inline.ts';
import { type Lanes, lanes } from './lanes.ts';
import { type Parking, parking } from './parking.ts';
import { Report } from './report.ts';
import { Run } from './run.ts';
import { Settler } from './settler.ts';
import { Slots } from './slots.ts';
import { Starter } from './starter.ts';
import { brokersCap, termsOf } from './terms.ts';
import { Watch } from './watch.ts';

export interface LifeSetup {
  readonly queue: string;
  readonly policy: ConsumerPolicy;
  readonly performer: Performer;
  readonly fail: Classifier;
  readonly subscription: Subscription;
  readonly system: System;
  readonly events: Announcer;
  /** Something got ready: call `turn` at the end of this loop turn. */
  wake(): void;
  /** A journal found a message that killed its process twice. It keeps its lease here until `runAlone`. */
  setAside(run: Run): void;
}

type FinalDecision = Exclude<Decision, { verb: 'hold' }>;
type Hold = Extract<Decision, { verb: 'hold' }>;

/** Successors of a dead key that found no place in the quarantine look again after this long. */
const PARKING_FULL_MS = 30_000;
/** What cannot start now, for a reason that passes, is looked at again after this long. */
const BUSY_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

const KEY_DIED: Outcome = {
  kind: 'refused',
  reason: 'blocked-key',
  why: 'an earlier message of its key went into the quarantine',
};
const ACK: Decision = { verb: 'ack' };
const STOPPING: Outcome = { kind: 'givenBack', delayMs: 0, why: 'shutdown' };

/**
 * The life of every message of one queue, in a fixed order:
 * arrive → due? → key lane → precheck → start → handler → decide → settle | hold → report.
 */
export class Life {
  readonly report: Report;
  readonly slots: Slots;
  readonly #setup: LifeSetup;
  readonly #policy: ConsumerPolicy;
  readonly #system: System;
  readonly #watch: Watch;
  readonly #starter: Starter;
  readonly #settler: Settler;
  readonly #lanes: Lanes;
  readonly #parking: Parking;
  /** May start as soon as a slot is free. */
  readonly #ready: Run[] = [];
  /** Settlements that wait for a heartbeat under way. */
  #behindBeat = 0;
  #stopping = false;
  /** While closed, held messages do not start again: somebody runs alone. */
  #closed = false;

  constructor(setup: LifeSetup) {
    const { policy, system, subscription } = setup;
    this.#setup = setup;
    this.#policy = policy;
    this.#system = system;
    this.report = new Report(setup.queue, setup.events, system);
    this.slots = new Slots(policy.concurrency);
    this.#lanes = lanes(policy.laneCap);
    this.#parking = parking(policy.parkCap);
    this.#watch = new Watch(subscription, system, policy, {
      deadline: (run) => this.#passedDeadline(run),
      lost: (run, why) => this.#lost(run, why),
      due: (run) => this.#dueAgain(run),
      trouble: (error) => this.report.trouble('extend', error),
    });
    this.#starter = new Starter(subscription.journal, policy.aloneStrikes, {
      started: (run) => this.#run(run, system.monotonic()),
      leftover: (run) => this.#carryOut(run, { kind: 'skip', why: 'it was settled before' }, ACK),
      suspect: (run) => this.#setAside(run),
      busy: (run) => this.#giveBack(run, BUSY_MS, 'a living owner has it open'),
      refused: (run, error) => {
        this.report.trouble('begin', error);
        this.#giveBack(run, BUSY_MS, 'the journal did not answer');
      },
    });
    this.#settler = new Settler(subscription, system, {
      settled: (run, settlement) => this.report.settled(run, settlement),
      lost: (run, why) => this.#lost(run, why),
      trouble: (error) => this.report.trouble('settle', error),
      again: () => this.#setup.wake(),
    });
  }

  // --- arriving ---------------------------------------------------------------------------------------------------

  arrive(deliveries: readonly Delivery[]): void {
    const now = this.#system.monotonic();
    for (const delivery of deliveries) {
      const run = this.#take(delivery, now, false);
      if (this.#stopping) this.#giveBack(run, 0, 'shutdown');
      else if (this.#isDue(run) && this.#headsItsKey(run)) this.#admit(run, now);
    }
  }

  /** The suspect that is asked for while nothing else of this process is started or unsettled. */
  arriveAlone(delivery: Delivery): Run {
    return this.#take(delivery, this.#system.monotonic(), true);
  }

  runAlone(run: Run): void {
    if (this.#stopping) {
      this.#giveBack(run, 0, 'shutdown');
      return;
    }
    run.alone = true;
    this.#admit(run, this.#system.monotonic());
  }

  #take(delivery: Delivery, now: number, alone: boolean): Run {
    const run = new Run(delivery, now, alone);
    if (this.#setup.subscription.capabilities.lease) {
      run.leaseEndsAt = now + (delivery.leaseMs ?? this.#policy.leaseMs);
      run.beatAt = now + (this.#policy.heartbeatMs ?? NEVER);
    }
    this.#watch.take(run);
    this.report.arrived(delivery);
    return run;
  }

  /** A message that was staged towards a later time waits for the rest of it, uncharged. */
  #isDue(run: Run): boolean {
    const { notBefore } = run.delivery;
    if (notBefore === undefined) return true;
    const wait = due(notBefore, this.#terms(run));
    if (wait === undefined) return true;
    this.#carryOut(run, { kind: 'givenBack', delayMs: notBefore - this.#system.now(), why: 'it is not due yet' }, wait);
    return false;
  }

  #headsItsKey(run: Run): boolean {
    return this.#policy.ordering === 'none' || this.#lanes.enter(run);
  }

  // --- starting ---------------------------------------------------------------------------------------------------

  /** Prechecked, and started when a slot is free. */
  #admit(run: Run, now: number): void {
    const { delivery } = run;
    const refused = precheck(this.#policy, {
      strikes: delivery.strikes ?? 0,
      bodyBytes: delivery.message.body?.byteLength ?? 0,
      maxBodyBytes: this.#policy.maxBodyBytes,
      blocked: this.#policy.ordering === 'key' && delivery.blocked === true,
    });
    if (refused !== undefined) this.#refuse(run, refused);
    else if (this.slots.free > 0) this.#start(run, now);
    else this.#ready.push(run);
  }

  #refuse(run: Run, refused: Outcome): void {
    const key = refused.kind === 'refused' && refused.reason === 'blocked-key' ? run.delivery.message.key : undefined;
    if (key === undefined || this.#parking.admit(key)) this.#conclude(run, refused);
    else this.#giveBack(run, PARKING_FULL_MS, 'its key is dead, and enough of it is in the quarantine');
  }

  #start(run: Run, now: number): void {
    this.slots.become(run, 'running');
    run.deadlineAt = NEVER;
    if (this.#starter.start(run)) this.#run(run, now);
    else this.#setup.wake();
  }

  #startReady(): void {
    while (this.#ready.length > 0 && this.slots.free > 0) {
      const run = this.#ready.shift()!;
      if (run.state === 'waiting') this.#start(run, this.#system.monotonic());
    }
  }

  /** The deadline is the handler's: a journal that takes its time to begin does not use it up. */
  #run(run: Run, now: number): void {
    run.deadlineAt = Math.min(now + this.#policy.timeoutMs, brokersCap(run, this.#setup.subscription.capabilities));
    this.#watch.look(run);
    if (run.alone) this.report.runningAlone(run);
    void this.#perform(run);
  }

  /** A handler that was given up meanwhile is not listened to: its message may be in other hands, or run here again. */
  async #perform(run: Run): Promise<void> {
    const { episode } = run;
    run.performing = true;
    const outcome = await this.#setup.performer.perform(run, this.#watch);
    if (run.performing && run.episode === episode) this.#conclude(run, outcome);
    else this.#endAbandoned();
  }

  // --- ending -----------------------------------------------------------------------------------------------------

  #conclude(run: Run, outcome: Outcome): void {
    if (outcome.kind === 'done') {
      this.#carryOut(run, outcome, ACK);
      return;
    }
    const meant = this.#stopping && run.aborted && outcome.kind === 'failed' ? STOPPING : outcome;
    const decision = decide(this.#policy, meant, {
      attempt: run.delivery.attempt,
      charged: true,
      draw: (n) => draw(run.drawId(this.#system), n),
    });
    const placed = this.#stopping ? placeAtClose(decision, this.#terms(run)) : place(decision, this.#terms(run));
    this.#carryOut(run, meant, placed);
  }

  #terms(run: Run): Terms {
    return termsOf(run, this.#setup.subscription.capabilities, this.#policy, this.slots, this.#system);
  }

  #carryOut(run: Run, outcome: Outcome, decision: Decision): void {
    if (decision.verb === 'hold') this.#hold(run, outcome, decision);
    else this.#giveUp(run, outcome, decision);
    this.#startReady();
    this.#setup.wake();
  }

  /** Out of our hands: heartbeat and deadline end before anything is written, and whoever waited behind it goes its way. */
  #giveUp(run: Run, outcome: Outcome, decision: FinalDecision): void {
    this.#watch.drop(run);
    this.slots.become(run, 'over');
    run.outcome = outcome;
    this.#handOver(run, this.#settlementOf(run, outcome, decision));
    if (this.#policy.ordering === 'key') this.#moveLane(run, decision);
  }

  #settlementOf(run: Run, outcome: Outcome, decision: FinalDecision): Settlement {
    const { delivery } = run;
    if (decision.verb === 'ack') return { delivery, verb: 'ack' };
    if (decision.verb !== 'quarantine') return { delivery, ...decision };
    const evidence = evidenceOf(run, outcome, decision.reason, this.#system.now(), this.#policy.version);
    return { delivery, verb: 'deadLetter', evidence };
  }

  /** A heartbeat that is still under way could lengthen what a backoff shortens, so it is waited for. */
  #handOver(run: Run, settlement: Settlement): void {
    if (run.extending === undefined) {
      this.#settler.add(run, settlement);
      return;
    }
    this.#behindBeat++;
    void run.extending.then(() => {
      this.#behindBeat--;
      this.#settler.add(run, settlement);
      this.#setup.wake();
    });
  }

  #moveLane(run: Run, decision: FinalDecision): void {
    if (decision.verb === 'ack') {
      this.#parking.reopen(run.delivery.message.key);
      const next = this.#lanes.leave(run);
      if (next !== undefined) this.#admit(next, this.#system.monotonic());
      return;
    }
    for (const successor of this.#lanes.scatter(run)) {
      if (decision.verb === 'quarantine') this.#refuse(successor, KEY_DIED);
      else this.#giveBack(successor, decision.delayMs, 'an earlier message of its key comes first');
    }
  }

  #giveBack(run: Run, delayMs: number, why: string): void {
    this.#conclude(run, { kind: 'givenBack', delayMs, why });
  }

  // --- waiting here -----------------------------------------------------------------------------------------------

  #hold(run: Run, outcome: Outcome, decision: Hold): void {
    this.slots.become(run, 'held');
    run.outcome = outcome;
    run.dueAt = this.#system.monotonic() + decision.delayMs;
    this.#watch.look(run);
    this.#handOver(run, { delivery: run.delivery, ...decision });
    if (decision.charged) this.report.held(run, decision.delayMs);
    run.again(decision.charged);
  }

  #dueAgain(run: Run): void {
    if (this.#closed) {
      run.dueAt = this.#system.monotonic() + BUSY_MS;
      return;
    }
    if (run.alone) {
      this.#setAside(run);
      return;
    }
    this.slots.become(run, 'waiting');
    if (this.#headsItsKey(run)) this.#admit(run, this.#system.monotonic());
  }

  /** Keeps its lease and waits until it may run alone. */
  #setAside(run: Run): void {
    run.alone = false;
    this.slots.become(run, 'waiting');
    this.#setup.setAside(run);
    this.#startReady();
  }

  // --- what time and the broker do to it --------------------------------------------------------------------------

  #passedDeadline(run: Run): void {
    const error = deadlineError(this.#policy.timeoutMs);
    this.#abandon(run, error);
    this.#conclude(run, { kind: 'timeout', failure: this.#setup.fail(error) });
  }

  lost(deliveries: readonly Delivery[]): void {
    const receipts = new Set(deliveries.map(({ receipt }) => receipt));
    for (const run of [...this.#watch.hands])
      if (receipts.has(run.delivery.receipt)) this.#lost(run, 'the broker took it back');
  }

  /** Its handler is told, and goes on unheard. */
  #lost(run: Run, why: string): void {
    this.report.lost(run, why);
    if (run.state === 'over') return;
    if (run.state === 'running')
      this.#abandon(run, new LazaretError('LZ1206', `the message is not ours any more: ${why}.`));
    this.#watch.drop(run);
    this.slots.become(run, 'over');
    for (const successor of this.#lanes.scatter(run))
      this.#giveBack(successor, 0, 'an earlier message of its key was lost');
    this.#startReady();
    this.#setup.wake();
  }

  #abandon(run: Run, reason: Error): void {
    this.report.abandoned(run, this.slots.abandon(run, reason));
  }

  #endAbandoned(): void {
    this.slots.returned();
    this.#setup.wake();
  }

  // --- the turn ---------------------------------------------------------------------------------------------------

  /** Hands over what got ready in this loop turn, together. Resolves when all of it is answered; `undefined` when there is nothing. */
  turn(): Promise<unknown> | undefined {
    const settling = this.#settler.flush();
    const beginning = this.#starter.begin();
    return settling === undefined || beginning === undefined
      ? (settling ?? beginning)
      : Promise.all([settling, beginning]);
  }

  // --- seen from outside ------------------------------------------------------------------------------------------

  /**
   * Slots that are free, within the credit: held messages and heads of keys take credit, not slots, and what waits behind a key takes
   * its lane's. None while too many handlers are abandoned or a lane is full.
   */
  get room(): number {
    if (this.slots.isStuck || this.#lanes.full) return 0;
    const credit =
      2 * this.#policy.concurrency - (this.#watch.hands.size - this.#lanes.waiting) - this.#settler.unsettled;
    return Math.min(this.slots.free - this.#ready.length, credit);
  }

  /** Started or not yet confirmed. Held messages and abandoned handlers are not counted. */
  get unfinished(): number {
    return this.slots.running + this.#ready.length + this.unsettled;
  }

  get unsettled(): number {
    return this.#settler.unsettled + this.#behindBeat;
  }

  get waiting(): number {
    return this.#lanes.waiting + this.#ready.length;
  }

  // --- closing ----------------------------------------------------------------------------------------------------

  /** Held messages stay held, until `reopen`. */
  close(): void {
    this.#closed = true;
  }

  reopen(): void {
    this.#closed = false;
  }

  /** Starts nothing any more, and gives back what has not started. */
  stopStarting(): void {
    this.#stopping = true;
    for (const run of [...this.#watch.hands]) {
      if (run.state === 'waiting') this.#giveBack(run, 0, 'shutdown');
      else if (run.state === 'held') this.#giveBack(run, Math.max(0, run.dueAt - this.#system.monotonic()), 'shutdown');
    }
    this.#ready.length = 0;
  }

  abortRunning(): void {
    for (const run of this.#watch.hands) run.abort(new LazaretError('LZ1207', 'the app is stopping.'));
  }

  /** Gives back, uncharged, what handlers still hold; what they do from now on changes nothing. */
  abandonRunning(): void {
    for (const run of [...this.#watch.hands]) {
      if (run.performing) this.#abandon(run, new LazaretError('LZ1207', 'the app is stopping.'));
      this.#giveBack(run, 0, 'shutdown');
    }
  }

  /** What is not confirmed by now stays so. */
  end(): void {
    this.#watch.stop();
    this.#settler.end();
  }
}
