import { countingSentence } from '../core/counting-sentence.ts';
import { LazaretError } from '../core/errors.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import { retryDelays } from '../core/retry-delays.ts';
import type { StormChange } from '../core/storm/changes.ts';
import { Gate } from '../core/storm/gate.ts';
import type { StandingOrder } from '../core/storm/standing-orders.ts';
import type { Broker, Subscription } from '../ports/broker.ts';
import type { Journal } from '../ports/journal.ts';
import type { System } from '../ports/system.ts';
import { type Alarm, alarm } from './alarm.ts';
import { asError } from './as-error.ts';
import { Commons } from './commons.ts';
import { Credit } from './credit.ts';
import { dependencyOf } from './dependency-of.ts';
import type { Announcer } from './events.ts';
import type { Counts, QueueHealth } from './health.ts';
import { problems } from './health.ts';
import type { Classifier, Performer } from './inline.ts';
import { Life } from './life.ts';
import { Puller } from './puller.ts';
import type { Run } from './run.ts';
import type { Solo, Soloist, SuspectRun } from './solo.ts';
import { until } from './until.ts';

export interface ConsumerSetup {
  readonly queue: string;
  readonly policy: ConsumerPolicy;
  readonly performer: Performer;
  readonly fail: Classifier;
  readonly dependency: ((message: never) => string | undefined) | undefined;
  readonly group: string | undefined;
  /** How long a pull of an empty queue waits. */
  readonly waitMs: number;
}

/** What the consumers of one app share. */
export interface Surroundings {
  readonly broker: Broker;
  readonly system: System;
  readonly events: Announcer;
  readonly solo: Solo;
  /** Of the app's store, where it has one. */
  readonly journal: Journal | undefined;
}

/** How a stop went. */
export interface StopCounts {
  /** Ended by themselves while stopping, whatever their outcome. */
  readonly finished: number;
  /** Given back uncharged. */
  readonly released: number;
  /** Handlers that still ran at the end; their messages are among the released. */
  readonly abandoned: number;
  /** Settlements that were never answered: these messages may come again. */
  readonly unsettled: number;
}

/** At the end of a stop's time, so much of it is for handlers that have been aborted and for what is still to be written. */
const GRACE_SHARE = 0.2;
const LONGEST_GRACE_MS = 2_000;
/** A store that does not answer keeps nobody from starting. */
const LONGEST_ASKING_MS = 2_000;

/** Takes messages of one queue for as long as it runs: asks only for what it has room for, and hands over what got ready, once per loop turn. */
export class Consumer implements Soloist {
  readonly queue: string;
  readonly #setup: ConsumerSetup;
  readonly #around: Surroundings;
  readonly #system: System;
  /** Of our own journal; the broker's are counted by `suspects`. */
  readonly #suspects: Run[] = [];
  #brokersSuspects = 0;
  #toldSuspects = 0;
  readonly #gate: Gate;
  /** Rings when storm control may admit more by itself. */
  readonly #admission: Alarm;
  /** Orders by hand, and what is told of storm control. */
  readonly #commons: Commons;
  /** Nothing may start. */
  #shut = false;
  #subscription!: Subscription;
  #life!: Life;
  #puller!: Puller;
  #credit!: Credit;
  #starting: Promise<void> | undefined;
  #state: QueueHealth['state'] = 'starting';
  #closed = false;
  /** A suspect is asked for. */
  #fetching = false;
  #scheduled = false;
  #whenIdle: (() => void)[] = [];

  constructor(setup: ConsumerSetup, around: Surroundings) {
    this.queue = setup.queue;
    this.#setup = setup;
    this.#around = around;
    this.#system = around.system;
    const { concurrency, timeoutMs, maxAttempts, storm } = setup.policy;
    const { rate, ...changed } = storm;
    const limits = { concurrency, timeoutMs, maxAttempts, ...(rate === undefined ? {} : { rate }) };
    this.#gate = new Gate({ ...limits, ...changed }, this.#system.monotonic());
    const { globalConcurrency } = setup.policy;
    const shares = { concurrency, globalConcurrency };
    this.#commons = new Commons(this.queue, this.#gate, shares, around.broker.shared, this.#system, {
      changed: () => this.#life === undefined || this.#wake(),
      trouble: (error) => around.events.tell('trouble', { queue: this.queue, verb: 'orders', error }),
    });
    this.#admission = alarm(this.#system, () => {
      this.#wake();
      return Number.POSITIVE_INFINITY;
    });
  }

  /** Subscribes and begins to pull. Rejects where the broker refuses the queue, cannot promise its order, or a stop came first. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { performer } = this.#setup;
    this.#refuseLimitsOfNobody();
    await performer.open?.();
    try {
      this.#subscription = await this.#subscribe();
    } catch (thrown) {
      await performer.close?.();
      throw thrown;
    }
    // n.b. who starts while the queue is paused must not handle one message first.
    await until(this.#system, this.#system.monotonic() + LONGEST_ASKING_MS, this.#commons.start());
    if (this.#state === 'starting') this.#run();
    else await this.#leave();
  }

  #run(): void {
    const { system, events, solo, journal } = this.#around;
    const { dependency, policy } = this.#setup;
    this.#life = new Life({
      ...this.#setup,
      gate: this.#gate,
      dependency: dependency && dependencyOf(dependency, (error) => this.#life.report.trouble('dependency', error)),
      subscription: this.#subscription,
      journal: policy.journal ? journal : undefined,
      system,
      events,
      wake: () => this.#wake(),
      setAside: (run) => {
        this.#suspects.push(run);
        this.#tellSuspects();
      },
    });
    this.#puller = new Puller(this.#subscription, system, {
      arrived: (deliveries, asked) => {
        this.#gate.handBack(asked - deliveries.length);
        this.#life.arrive(deliveries);
        this.#wake();
      },
      failed: (asked) => this.#gate.handBack(asked),
      trouble: (error) => events.tell('trouble', { queue: this.queue, verb: 'pull', error }),
    });
    this.#credit = new Credit(this.#subscription, 2 * policy.concurrency, system, (error) =>
      this.#life.report.trouble('credit', error),
    );
    this.#state = 'running';
    solo.join(this);
    this.#tellSuspects();
    this.#wake();
  }

  #refuseLimitsOfNobody(): void {
    const { broker } = this.#around;
    if (this.#setup.policy.globalConcurrency === undefined || broker.shared !== undefined) return;
    throw new LazaretError(
      'LZ1004',
      `globalConcurrency: the processes of queue '${this.queue}' share nothing in which to count: the broker '${broker.name}' is no store.`,
      { hint: "Use 'concurrency', which holds for each process, or SQLite as the broker." },
    );
  }

  async #subscribe(): Promise<Subscription> {
    const { policy, group, waitMs } = this.#setup;
    const { broker } = this.#around;
    const subscription = await broker.subscribe(this.queue, {
      ...(group === undefined ? {} : { group }),
      prefetch: 2 * policy.concurrency,
      leaseMs: policy.leaseMs,
      waitMs,
      order: policy.ordering,
      maxAttempts: policy.maxAttempts,
      retryDelaysMs: retryDelays(policy),
      lost: (deliveries) => this.#life?.lost(deliveries),
      suspects: (waiting) => {
        this.#brokersSuspects = waiting;
        if (this.#state !== 'starting') this.#tellSuspects();
      },
    });
    if (policy.ordering === 'none' || subscription.capabilities.order === 'key') return subscription;
    await subscription.close();
    throw new LazaretError(
      'LZ1051',
      `the broker '${broker.name}' cannot keep the messages of queue '${this.queue}' in order.`,
      {
        hint: "Drop ordering: 'key', or use what keeps order: SQLite, PostgreSQL, a Kafka partition, an SQS FIFO queue, RabbitMQ with a single active consumer.",
      },
    );
  }

  // --- the turn ---------------------------------------------------------------------------------------------------

  #wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#system.turn(this.#turn);
  }

  /** Settlements, starts and a pull go out in the same turn, so that a driver may fuse them. */
  readonly #turn = (): void => {
    this.#scheduled = false;
    const answers = this.#life.turn();
    if (this.#state === 'running') {
      const now = this.#system.monotonic();
      this.#followGate(now);
      if (!this.#closed && this.#puller.idle) this.#pull(now);
    }
    for (const change of this.#gate.changes()) this.#tellStorm(change);
    this.#commons.look(this.#system.monotonic());
    if (answers !== undefined) void answers.then(this.#answered);
    this.#look();
  };

  /** What storm control does not admit is not asked for: the queue is the buffer. */
  #pull(now: number): void {
    const { room, ready } = this.#life;
    if (room <= 0) return;
    const admitted = this.#gate.admit(room, ready, now);
    if (admitted > 0) this.#puller.pull(admitted);
    else this.#admission.by(this.#gate.nextAt(ready, now));
  }

  /** While nothing may start, what is prefetched goes back, here and at the broker. Handlers that run keep their leases. */
  #followGate(now: number): void {
    const breadth = this.#gate.breadth(now);
    this.#credit.want(2 * Math.min(breadth, this.#setup.policy.concurrency), now);
    if (breadth > 0) this.#shut = false;
    else if (!this.#shut) {
      this.#shut = true;
      this.#puller.hush();
      this.#life.turnAwayReady();
    }
  }

  #tellStorm(change: StormChange): void {
    this.#commons.record(change);
    this.#life.report.storm(change);
  }

  /** An open pull wakes us anyway. */
  readonly #answered = (): void => {
    if (!this.#puller.asking || this.#closed || this.#whenIdle.length > 0) this.#wake();
  };

  #look(): void {
    if (this.#whenIdle.length > 0 && this.quiet()) {
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
    this.#around.solo.look();
  }

  #untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#wake();
    });
  }

  // --- running alone ----------------------------------------------------------------------------------------------

  #tellSuspects(): void {
    const waiting = this.#brokersSuspects + this.#suspects.length;
    if (waiting === this.#toldSuspects) return;
    this.#toldSuspects = waiting;
    const { events, solo } = this.#around;
    if (events.heard('suspects')) events.tell('suspects', { queue: this.queue, waiting });
    solo.suspects(this, waiting);
  }

  close(): void {
    this.#closed = true;
    this.#life.pause();
    this.#puller.hush();
  }

  open(): void {
    this.#closed = false;
    this.#life.resume();
    this.#wake();
  }

  quiet(): boolean {
    return this.#life.unfinished === 0 && !this.#puller.asking && !this.#fetching;
  }

  async runSuspect(): Promise<SuspectRun> {
    // n.b. while nothing may start, a suspect that is fetched would only be given back.
    if (this.#state !== 'running' || this.#gate.breadth(this.#system.monotonic()) === 0) return 'none';
    const suspect = this.#ownSuspect() ?? (await this.#brokersSuspect());
    if (suspect === 'failed') return 'failed';
    if (suspect === undefined) return 'none';
    this.#life.runAlone(suspect);
    await this.#untilIdle();
    return 'ran';
  }

  #ownSuspect(): Run | undefined {
    for (let suspect = this.#suspects.shift(); suspect !== undefined; suspect = this.#suspects.shift()) {
      this.#tellSuspects();
      if (suspect.state === 'waiting') return suspect;
    }
    return undefined;
  }

  async #brokersSuspect(): Promise<Run | undefined | 'failed'> {
    this.#fetching = true;
    try {
      const delivery = await this.#subscription.alone?.(this.#puller.signal);
      return delivery === undefined ? undefined : this.#life.arriveAlone(delivery);
    } catch (thrown) {
      this.#around.events.tell('trouble', { queue: this.queue, verb: 'alone', error: asError(thrown) });
      return 'failed';
    } finally {
      this.#fetching = false;
      this.#wake();
    }
  }

  // --- stopping ---------------------------------------------------------------------------------------------------

  /**
   * Takes nothing more, gives back what has not started, lets handlers finish, aborts those that do not in time and gives their
   * messages back, uncharged. Resolves within `withinMs`, whatever handlers and broker do; never rejects.
   */
  async stop(withinMs: number): Promise<StopCounts> {
    const endAt = this.#system.monotonic() + withinMs;
    if (this.#state !== 'running') return this.#stopStarting(endAt);
    const graceMs = Math.min(withinMs * GRACE_SHARE, LONGEST_GRACE_MS);
    const { report, slots } = this.#life;
    const before = { ...report.counts };
    this.#state = 'stopping';
    this.#puller.hush();
    // What was to be said of it later would let it push again.
    this.#credit.stop();

    await until(this.#system, this.#system.monotonic() + graceMs / 2, this.#takeNoMore());
    this.#life.stopStarting();
    await until(this.#system, endAt - graceMs, this.#untilIdle());
    this.#life.abortRunning();
    await until(this.#system, endAt - graceMs / 2, this.#untilIdle());
    this.#life.abandonRunning();
    await until(this.#system, endAt, this.#untilIdle());
    const { unsettled } = this.#life;
    await until(this.#system, endAt, this.#leave());

    this.#state = 'stopped';
    this.#around.events.tell('stopped', { queue: this.queue });
    return { ...counted(before, report.counts), abandoned: slots.abandoned, unsettled };
  }

  /** What the start still brings is closed by it. */
  async #stopStarting(endAt: number): Promise<StopCounts> {
    this.#state = 'stopped';
    const starting = this.#starting?.catch(() => undefined);
    if (starting !== undefined) await until(this.#system, endAt, starting);
    return { finished: 0, released: 0, abandoned: 0, unsettled: 0 };
  }

  /** A broker that pushes would hand what we give back straight to us again. */
  async #takeNoMore(): Promise<void> {
    // n.b. with a single active consumer the next one would begin at once, while ours still run.
    if (this.#setup.policy.ordering === 'key') return;
    try {
      await this.#subscription.credit?.(0);
    } catch (thrown) {
      this.#around.events.tell('trouble', { queue: this.queue, verb: 'close', error: asError(thrown) });
    }
  }

  async #leave(): Promise<void> {
    this.#around.solo.leave(this);
    this.#admission.stop();
    const told = this.#commons.end();
    this.#credit?.stop();
    this.#puller?.end();
    const booked = this.#life?.end();
    try {
      await this.#setup.performer.close?.();
      await this.#subscription.close();
      await booked;
      // n.b. last: a store that does not answer must not keep what was never handed out.
      await told;
    } catch (thrown) {
      this.#around.events.tell('trouble', { queue: this.queue, verb: 'close', error: asError(thrown) });
    }
  }

  // --- by hand ----------------------------------------------------------------------------------------------------

  /** Followed here at once. Rejects where the other processes cannot be told. */
  order(order: StandingOrder): Promise<void> {
    return this.#commons.give(order);
  }

  lift(slot: string): Promise<void> {
    return this.#commons.lift(slot);
  }

  /** How exactly attempts and crashes are counted, for people; `undefined` where there is nothing to say, or it is not known yet. */
  get counting(): string | undefined {
    return this.#life && countingSentence(this.#life.counting, this.#subscription.capabilities.failures);
  }

  health(): QueueHealth {
    const { concurrency } = this.#setup.policy;
    const { waitMs } = this.#setup;
    const now = this.#system.monotonic();
    if (this.#life === undefined)
      return { ...NOT_STARTED, state: this.#state, storm: this.#gate.view(now), orders: this.#commons.orders };
    const { waiting, unsettled } = this.#life;
    const { running, held, abandoned } = this.#life.slots;
    const { counts, lastSettleAt } = this.#life.report;
    const { lastAt, askedAt } = this.#puller;
    const unansweredPullMs = askedAt === undefined ? 0 : now - askedAt;
    const found = problems({
      abandoned,
      concurrency,
      unansweredPullMs,
      waitMs,
      pullsFailForMs: since(this.#puller.failingSince, now),
      settlesFailForMs: since(this.#life.failingSince, now),
    });
    return {
      ok: found.length === 0,
      state: this.#state,
      running,
      held,
      waiting,
      unsettled,
      abandoned,
      suspects: this.#brokersSuspects + this.#suspects.length,
      counts: { ...counts },
      storm: this.#gate.view(now),
      orders: this.#commons.orders,
      ...(lastAt === undefined ? {} : { lastPullAt: lastAt }),
      ...(lastSettleAt === undefined ? {} : { lastSettleAt }),
      problems: found,
    };
  }
}

const NOT_STARTED: Omit<QueueHealth, 'storm' | 'orders'> = {
  ok: true,
  state: 'starting',
  running: 0,
  held: 0,
  waiting: 0,
  unsettled: 0,
  abandoned: 0,
  suspects: 0,
  counts: { done: 0, retried: 0, released: 0, quarantined: 0, lost: 0 },
  problems: [],
};

function since(at: number | undefined, now: number): number {
  return at === undefined ? 0 : now - at;
}

function counted(before: Counts, after: Counts): { finished: number; released: number } {
  const ended = ({ done, retried, quarantined }: Counts) => done + retried + quarantined;
  return { finished: ended(after) - ended(before), released: after.released - before.released };
}
