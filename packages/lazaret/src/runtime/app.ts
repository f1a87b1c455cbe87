import { type BatchOptions, batchOptions } from '../core/batch-options.ts';
import {
  type BreakerOrderOptions,
  breakerOrder,
  checkEnd,
  dependencyIn,
  type EndOptions,
  forgiveOrder,
  type LimitOrderOptions,
  limitOrders,
  type OrderOptions,
  pauseOrder,
  resumeOrder,
} from '../core/by-hand.ts';
import { didYouMean } from '../core/did-you-mean.ts';
import { parseDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';
import { type LimitReach, limitsSentence } from '../core/limits-sentence.ts';
import { shown } from '../core/option-error.ts';
import { givenOptions } from '../core/option-values.ts';
import type { ConsumeOptions, IsolateOptions } from '../core/options.ts';
import { consumerPolicy } from '../core/options.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import type { Schema } from '../core/schema.ts';
import { slotOf } from '../core/storm/standing-orders.ts';
import { renderTimetable, timetable } from '../core/timetable.ts';
import type { Broker, Driver } from '../ports/broker.ts';
import type { Logger } from '../ports/logger.ts';
import type { StoreDriver } from '../ports/store.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';
import type { BatchHandler } from './batch.ts';
import { batched } from './batch.ts';
import { classifierOf } from './classifier.ts';
import { batchArguments, consumeArguments } from './consume-arguments.ts';
import type { StopCounts, Surroundings } from './consumer.ts';
import { Consumer } from './consumer.ts';
import type { EventName, Listener } from './events.ts';
import { announcer } from './events.ts';
import type { Health, QueueHealth } from './health.ts';
import type { Classifier, Handler, Performer } from './inline.ts';
import { inline } from './inline.ts';
import { isolated } from './isolate/pool.ts';
import type { SendOptions } from './outgoing.ts';
import { send } from './outgoing.ts';
import type { ReceivedMessage } from './received.ts';
import { Solo } from './solo.ts';
import { Tenure } from './tenure.ts';
import { until } from './until.ts';

export interface AppSetup {
  readonly driver: Driver;
  /** `undefined`: what the broker does not remember is not remembered. */
  readonly store?: StoreDriver | undefined;
  readonly system: System;
  /** `undefined` is silence. */
  readonly logger: Logger | undefined;
  readonly group: string | undefined;
  /** Of the service; a consumer's own goes first. */
  readonly version: string | undefined;
  readonly waitMs: number;
}

export type QueueOptions<T> = Omit<ConsumeOptions, 'isolate' | 'schema' | 'dependency'> & {
  /** As of `ConsumeOptions`. */
  readonly dependency?: (message: ReceivedMessage<T>) => string | undefined;
  /** Standard Schema for the decoded body: `json()` gives what it makes of it, and a violation is poison. None by default. */
  readonly schema?: Schema<T>;
};

/** A closure cannot leave its process: an isolated handler is the default export of a module, which may export its `schema` too. */
export type IsolatedQueueOptions = Omit<ConsumeOptions, 'isolate' | 'schema' | 'poison' | 'transient'> & {
  readonly isolate: 'process' | IsolateOptions;
  readonly handler: URL;
};

/** `concurrency` counts calls, and is 1 by default. */
export type BatchQueueOptions<T> = QueueOptions<T> & BatchOptions;

export interface StopOptions {
  /** How long handlers may still take. Default '25s'. */
  readonly within?: string;
}

/** Consumers and senders over one broker. `Queues` maps queue names to the types of their bodies. */
export interface App<Queues extends object = Record<string, unknown>> {
  /** Registers a handler; consuming begins with `start`. Options are checked now (LZ10xx). With a schema, `json()` has its type. */
  consume<Q extends keyof Queues & string>(queue: Q, handler: Handler<Queues[Q]>): App<Queues>;
  consume<Q extends keyof Queues & string, T>(
    queue: Q,
    options: QueueOptions<T> & { readonly schema: Schema<T> },
    handler: Handler<T>,
  ): App<Queues>;
  consume<Q extends keyof Queues & string>(
    queue: Q,
    options: QueueOptions<Queues[Q]>,
    handler: Handler<Queues[Q]>,
  ): App<Queues>;
  consume<Q extends keyof Queues & string>(queue: Q, options: IsolatedQueueOptions): App<Queues>;
  /**
   * Hands up to `size` messages to one call; each has its own outcome. `concurrency` counts calls and is 1 by default; a message that is
   * tried again comes alone, in a call of its own.
   */
  consumeBatch<Q extends keyof Queues & string, T>(
    queue: Q,
    options: BatchQueueOptions<T> & { readonly schema: Schema<T> },
    handler: BatchHandler<T>,
  ): App<Queues>;
  consumeBatch<Q extends keyof Queues & string>(
    queue: Q,
    options: BatchQueueOptions<Queues[Q]>,
    handler: BatchHandler<Queues[Q]>,
  ): App<Queues>;
  /**
   * Connects and subscribes, and keeps the process alive until `stop`. Rejects, having undone what it began, where the broker or a queue
   * refuses; the app is stopped then, for good: make another one to try again.
   */
  start(): Promise<void>;
  /**
   * Resolves when the message is durable; also before `start`. Bytes go as they are, `null` as a tombstone, everything else as JSON: a
   * string is sent in quotes. Rejects with LZ1002 for what JSON cannot say, LZ1208 where the broker did not take it, LZ1054 after `stop`.
   */
  send<Q extends keyof Queues & string>(queue: Q, body: Queues[Q], options?: SendOptions): Promise<void>;
  /**
   * Drains for at most `within`, gives the rest back uncharged, and says how it went. Calling it again answers the same: another
   * `within` changes nothing any more. With options that cannot be read it stops within '25s' and rejects then.
   */
  stop(options?: StopOptions): Promise<StopCounts>;
  /**
   * By hand, each with an end: what is ordered holds in all processes of the queue where the broker is a store itself (SQLite), also
   * after a restart, and in this process else. Rejects where the others cannot be told; it holds here all the same. LZ1054 where the
   * queue is not consumed by this app, or not yet.
   *
   * `pause`: nothing starts; what runs goes on, what was fetched is given back.
   */
  pause(queue: keyof Queues & string, options: OrderOptions): Promise<void>;
  /** Ends a pause, whoever or whatever began it. */
  resume(queue: keyof Queues & string, options: EndOptions): Promise<void>;
  /** Holds a breaker open, half-open (one probe after another) or closed; `'automatic'` lets it live by itself again. */
  breaker(
    queue: keyof Queues & string,
    to: 'open' | 'half-open' | 'closed' | 'automatic',
    options: BreakerOrderOptions,
  ): Promise<void>;
  /** Another concurrency (below the configured one) or rate for a while. */
  limit(queue: keyof Queues & string, options: LimitOrderOptions): Promise<void>;
  /** Ends what is fused, systemic or paused for this fingerprint, and counts anew: the cause has been mended. */
  forgive(queue: keyof Queues & string, fingerprint: string, options: EndOptions): Promise<void>;
  /** Calls `listener` for each event `name`, until the function that it returns is called. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void;
  /** What every queue does right now, and what is wrong with it. A queue is listed from `start` on. */
  health(): Health;
  /**
   * The timetable of a queue's messages as text: attempts, waits, and what is never retried; and its limits, with whether they hold for all
   * processes together, and how exactly attempts and crashes are counted, once it has started. Throws LZ1054 where it is not registered.
   */
  describe(queue: keyof Queues & string): string;
}

/** The app as its parts see it: queue names are names, whatever type their bodies have. */
type AnyApp = App<Record<string, unknown>>;

export function createApp(setup: AppSetup): AnyApp {
  const { driver, system } = setup;
  const events = announcer(setup.logger, system);
  const solo = new Solo(system);
  const consumers = new Map<string, { policy: ConsumerPolicy; make: (around: Surroundings) => Consumer }>();
  const running: Consumer[] = [];
  let state: 'new' | 'started' | 'stopped' = 'new';
  let connection: Promise<Broker> | undefined;
  let stopping: Promise<StopCounts> | undefined;
  let tenure: Promise<Tenure> | undefined;
  let mayExit: Cancel | undefined;
  let reach: LimitReach = 'unknown';

  const broker = (): Promise<Broker> => {
    if (state === 'stopped') throw notNow('the app is stopped', 'Make another app with lazaret().');
    connection ??= connect();
    return connection;
  };

  /** A connection that failed is not remembered: who asks next tries again. */
  const connect = (): Promise<Broker> => {
    const connecting = (async () => driver.connect(system))();
    connecting.catch(() => {
      if (connection === connecting) connection = undefined;
    });
    return connecting;
  };

  const register = (
    queue: string,
    { dependency }: ConsumeOptions,
    policy: ConsumerPolicy,
    fail: Classifier,
    performer: Performer,
  ) => {
    if (state !== 'new')
      throw notNow(`queue '${queue}' cannot be added: the app has been started`, "Call it before 'start'.");
    if (consumers.has(queue)) {
      throw new LazaretError('LZ1052', `queue '${queue}' is consumed twice in this app.`, {
        hint: "Raise its 'concurrency' instead.",
      });
    }
    const { group, waitMs } = setup;
    consumers.set(queue, {
      policy,
      make: (around) => new Consumer({ queue, policy, performer, fail, dependency, group, waitMs }, around),
    });
  };

  const policyOf = (options: ConsumeOptions): ConsumerPolicy => {
    const policy = consumerPolicy(options);
    return { ...policy, version: policy.version ?? setup.version };
  };

  /** A stop that comes in between ends it: what is started by then is the stop's to end. */
  const startAll = async (): Promise<void> => {
    const connected = await broker();
    if (stopping !== undefined) throw stoppedWhileStarting();
    tenure = setup.store && beginTenure(setup.store);
    const journal = (await tenure)?.journal;
    const around = { broker: connected, system, events, solo, journal };
    reach = around.broker.shared === undefined ? 'each' : 'together';
    for (const { make } of consumers.values()) {
      if (stopping !== undefined) break;
      const consumer = make(around);
      running.push(consumer);
      await consumer.start();
    }
    if (stopping !== undefined) throw stoppedWhileStarting();
  };

  const beginTenure = async (store: StoreDriver): Promise<Tenure> => {
    const begun = new Tenure(await store.connect(system), setup.group, system, (error) =>
      events.tell('trouble', { queue: undefined, verb: 'alive', error }),
    );
    try {
      await begun.begin();
      return begun;
    } catch (thrown) {
      await begun.end().catch(() => undefined);
      throw thrown;
    }
  };

  /** One that never began has told why. */
  const endTenure = async (): Promise<void> => {
    const begun = await tenure?.catch(() => undefined);
    await begun?.end();
  };

  const consumerOf = (queue: string): Consumer => {
    const found = running.find((consumer) => consumer.queue === queue);
    if (found !== undefined) return found;
    if (!consumers.has(queue)) throw notRegistered(queue, [...consumers.keys()]);
    throw notNow(`queue '${queue}' is not consumed yet`, "Wait for 'start'.");
  };

  const hangUp = async (endAt: number): Promise<void> => {
    const closing = Promise.all([connection?.then((connected) => connected.close()), endTenure()]);
    try {
      if (!(await until(system, endAt, closing))) throw new Error('the connection did not close in time');
    } catch (thrown) {
      events.tell('trouble', { queue: undefined, verb: 'close', error: asError(thrown) });
    }
  };

  const stop = async (withinMs: number): Promise<StopCounts> => {
    state = 'stopped';
    const endAt = system.monotonic() + withinMs;
    const counts = await Promise.all(running.map((consumer) => consumer.stop(withinMs)));
    solo.end();
    await hangUp(endAt);
    events.end();
    mayExit?.();
    return sum(counts);
  };

  const app: AnyApp = {
    consume(queue: string, second: unknown, third?: unknown) {
      const { options, handler } = consumeArguments(queue, second, third);
      const fail = classifierOf(options, system);
      const policy = policyOf(options);
      if (handler instanceof URL)
        register(queue, options, policy, fail, isolated(handler, options.isolate!, policy, fail, system));
      else register(queue, options, policy, fail, inline(handler, fail, options.schema));
      return app;
    },
    consumeBatch(queue: string, given: unknown, third: unknown) {
      const { options, filling, handler } = batchArguments(queue, given, third);
      const { concurrency = 1 } = options;
      const fail = classifierOf(options, system);
      const policy = policyOf(options);
      const batch = batchOptions(filling, policy);
      register(
        queue,
        options,
        { ...policy, concurrency: concurrency * batch.size },
        fail,
        batched(handler, { ...batch, concurrency }, fail, system, options.schema),
      );
      return app;
    },
    async start() {
      if (state !== 'new') throw notNow('the app has been started before', 'Make another app with lazaret().');
      state = 'started';
      mayExit = system.stayAlive();
      try {
        await startAll();
      } catch (thrown) {
        const cause = stopping === undefined ? thrown : stoppedWhileStarting();
        await app.stop({ within: '5s' });
        throw cause;
      }
    },
    async send(queue, body, options = {}) {
      await send(await broker(), queue, body, options, () => system.id());
    },
    async stop(options = {}) {
      const { withinMs, refusal } = stopOptions(options);
      stopping ??= stop(withinMs);
      const counts = await stopping;
      if (refusal !== undefined) throw refusal;
      return counts;
    },
    async pause(queue, options) {
      await consumerOf(queue).order(pauseOrder(options, system.now()));
    },
    async resume(queue, options) {
      await consumerOf(queue).order(resumeOrder(options, system.now()));
    },
    async breaker(queue, to, options) {
      if (to !== 'automatic') await consumerOf(queue).order(breakerOrder(to, options, system.now()));
      else {
        const given = checkEnd(options, 'breaker', ['for', 'dependency']);
        await consumerOf(queue).lift(slotOf({ set: 'breaker', to: 'open', ...dependencyIn(given) }));
      }
    },
    async limit(queue, options) {
      const consumer = consumerOf(queue);
      for (const order of limitOrders(options, system.now())) await consumer.order(order);
    },
    async forgive(queue, fingerprint, options) {
      await consumerOf(queue).order(forgiveOrder(fingerprint, options, system.now()));
    },
    on: (name, listener) => events.on(name, listener),
    health() {
      const queues: Record<string, QueueHealth> = Object.create(null);
      for (const consumer of running) queues[consumer.queue] = consumer.health();
      return { ok: Object.values(queues).every(({ ok }) => ok), queues };
    },
    describe(queue) {
      const found = consumers.get(queue);
      if (found === undefined) throw notRegistered(queue, [...consumers.keys()]);
      const counting = running.find((consumer) => consumer.queue === queue)?.counting;
      const sentences = [limitsSentence(found.policy, reach), counting].filter((sentence) => sentence !== undefined);
      return [renderTimetable(timetable(found.policy)), ...sentences].join('\n');
    },
  };
  return app;
}

const STOP_NAMES: Readonly<Record<keyof StopOptions, true>> = { within: true };
const STOP_WITHIN = '25s';

/** A stop that is asked for must come, whatever is wrong with its options: what is wrong is told afterwards. */
function stopOptions(options: unknown): { readonly withinMs: number; readonly refusal?: unknown } {
  try {
    const within = givenOptions(options, Object.keys(STOP_NAMES), 'stop').get('within') ?? STOP_WITHIN;
    return { withinMs: parseDuration(within, 'within') };
  } catch (refusal) {
    return { withinMs: parseDuration(STOP_WITHIN, 'within'), refusal };
  }
}

function notNow(what: string, todo: string): LazaretError {
  return new LazaretError('LZ1054', `${what}.`, { hint: todo });
}

function stoppedWhileStarting(): LazaretError {
  return notNow('the app was stopped while it started', 'Make another app with lazaret().');
}

function notRegistered(queue: unknown, registered: readonly string[]): LazaretError {
  const meant = typeof queue === 'string' ? didYouMean(queue, registered) : undefined;
  const todo = meant === undefined ? "Register it with 'consume' first." : `Did you mean '${meant}'?`;
  return notNow(`queue ${shown(queue)} is not consumed by this app`, todo);
}

function sum(all: readonly StopCounts[]): StopCounts {
  const total = { finished: 0, released: 0, abandoned: 0, unsettled: 0 };
  for (const { finished, released, abandoned, unsettled } of all) {
    total.finished += finished;
    total.released += released;
    total.abandoned += abandoned;
    total.unsettled += unsettled;
  }
  return total;
}
