import { parseDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';
import type { ConsumeOptions, IsolateOptions } from '../core/options.ts';
import { batchOptions, consumerPolicy } from '../core/options.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import { renderTimetable, timetable } from '../core/timetable.ts';
import type { Broker, Driver } from '../ports/broker.ts';
import type { Logger } from '../ports/logger.ts';
import type { Cancel, System } from '../ports/system.ts';
import { asError } from './as-error.ts';
import type { BatchHandler } from './batch.ts';
import { batched } from './batch.ts';
import { classifierOf } from './classifier.ts';
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
import type { Schema } from './schema.ts';
import { Solo } from './solo.ts';
import { until } from './until.ts';

export interface AppSetup {
  readonly driver: Driver;
  readonly system: System;
  readonly logger: Logger;
  readonly group: string | undefined;
  /** Of the service; a consumer's own goes first. */
  readonly version: string | undefined;
  readonly waitMs: number;
}

export type QueueOptions<T> = ConsumeOptions & { readonly schema?: Schema<T> };

/** A closure cannot leave its process: an isolated handler is the default export of a module. */
export type IsolatedQueueOptions = ConsumeOptions & {
  readonly isolate: 'process' | IsolateOptions;
  readonly handler: URL;
};

export type BatchQueueOptions<T> = QueueOptions<T> & {
  /** Messages in one call, at most. */
  readonly size: number;
  /** How long the first of a batch waits for the others. */
  readonly within: string;
};

/** Consumers and senders over one broker. `Queues` maps queue names to the types of their bodies. */
export interface App<Queues extends object = Record<string, unknown>> {
  /** Registers a handler; consuming begins with `start`. Options are checked now. */
  consume<Q extends keyof Queues & string>(queue: Q, handler: Handler<Queues[Q]>): App<Queues>;
  consume<Q extends keyof Queues & string>(
    queue: Q,
    options: QueueOptions<Queues[Q]>,
    handler: Handler<Queues[Q]>,
  ): App<Queues>;
  consume<Q extends keyof Queues & string>(queue: Q, options: IsolatedQueueOptions): App<Queues>;
  /** Hands up to `size` messages to one call; each has its own outcome. `concurrency` counts batches and is 1 by default. */
  consumeBatch<Q extends keyof Queues & string>(
    queue: Q,
    options: BatchQueueOptions<Queues[Q]>,
    handler: BatchHandler<Queues[Q]>,
  ): App<Queues>;
  /** Connects and subscribes, and keeps the process alive until `stop`. Rejects, having undone what it began, where the broker or a queue refuses. */
  start(): Promise<void>;
  /** Resolves when the message is durable. Also before `start`. */
  send<Q extends keyof Queues & string>(queue: Q, body: Queues[Q], options?: SendOptions): Promise<void>;
  /** Drains for at most `within` ('25s' by default), gives the rest back uncharged, and says how it went. Calling it again answers the same. */
  stop(options?: { readonly within?: string }): Promise<StopCounts>;
  /** Ends by calling what it returns. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void;
  health(): Health;
  /** The timetable of a queue's messages as text: attempts, waits, and what is never retried. */
  describe(queue: keyof Queues & string): string;
}

/** The app as its parts see it: queue names are names, whatever type their bodies have. */
type AnyApp = App<Record<string, unknown>>;

export function createApp(setup: AppSetup): AnyApp {
  const { driver, system } = setup;
  const events = announcer(setup.logger);
  const solo = new Solo(system);
  const consumers = new Map<string, { policy: ConsumerPolicy; make: (around: Surroundings) => Consumer }>();
  const running: Consumer[] = [];
  let state: 'new' | 'started' | 'stopped' = 'new';
  let connection: Promise<Broker> | undefined;
  let stopping: Promise<StopCounts> | undefined;
  let mayExit: Cancel | undefined;

  const broker = (): Promise<Broker> => {
    if (state === 'stopped') throw notNow('the app is stopped');
    connection ??= driver.connect(system);
    return connection;
  };

  const register = (queue: string, policy: ConsumerPolicy, fail: Classifier, performer: Performer) => {
    if (state !== 'new') throw notNow(`queue '${queue}' cannot be added: the app has been started`);
    if (consumers.has(queue)) {
      throw new LazaretError('LZ1052', `queue '${queue}' is consumed twice in this app.`, {
        hint: "Raise its 'concurrency' instead.",
      });
    }
    const { group, waitMs } = setup;
    consumers.set(queue, {
      policy,
      make: (around) => new Consumer({ queue, policy, performer, fail, group, waitMs }, around),
    });
  };

  const policyOf = (options: ConsumeOptions): ConsumerPolicy => {
    const policy = consumerPolicy(options);
    return { ...policy, version: policy.version ?? setup.version };
  };

  /** A stop that comes in between ends it: what is started by then is the stop's to end. */
  const startAll = async (): Promise<void> => {
    const around = { broker: await broker(), system, events, solo };
    for (const { make } of consumers.values()) {
      if (stopping !== undefined) break;
      const consumer = make(around);
      running.push(consumer);
      await consumer.start();
    }
    if (stopping !== undefined) throw notNow('the app is stopped');
  };

  const hangUp = async (endAt: number): Promise<void> => {
    const closing = connection?.then((connected) => connected.close());
    try {
      if (closing !== undefined && !(await until(system, endAt, closing)))
        throw new Error('the connection did not close in time');
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
    mayExit?.();
    return sum(counts);
  };

  const app: AnyApp = {
    consume(queue: string, second: unknown, third?: unknown) {
      const { options, handler } = consumeArguments(queue, second, third);
      const fail = classifierOf(options, system);
      if (handler instanceof URL) {
        refuseClosures(queue, options);
        const policy = policyOf(options);
        register(queue, policy, fail, isolated(handler, options.isolate!, policy, fail, system));
      } else register(queue, policyOf(options), fail, inline(handler, fail, options.schema as Schema | undefined));
      return app;
    },
    consumeBatch(queue, { size, within, ...options }, handler) {
      const batch = batchOptions({ size, within });
      const fail = classifierOf(options, system);
      const policy = policyOf({ concurrency: 1, ...options });
      register(
        queue,
        { ...policy, concurrency: policy.concurrency * batch.size },
        fail,
        batched(handler, batch, fail, system, options.schema),
      );
      return app;
    },
    async start() {
      if (state !== 'new') throw notNow('the app has been started before');
      state = 'started';
      mayExit = system.stayAlive();
      try {
        await startAll();
      } catch (thrown) {
        const cause = stopping === undefined ? thrown : notNow('the app was stopped while it started');
        await app.stop({ within: '5s' });
        throw cause;
      }
    },
    async send(queue, body, options = {}) {
      await send(await broker(), queue, body, options, () => system.id());
    },
    async stop({ within = '25s' } = {}) {
      const withinMs = parseDuration(within, 'within');
      stopping ??= stop(withinMs);
      return stopping;
    },
    on: (name, listener) => events.on(name, listener),
    health() {
      const queues: Record<string, QueueHealth> = Object.create(null);
      for (const consumer of running) queues[consumer.queue] = consumer.health();
      return { ok: Object.values(queues).every(({ ok }) => ok), queues };
    },
    describe(queue) {
      const found = consumers.get(queue);
      if (found === undefined) throw new LazaretError('LZ1302', `queue '${queue}' is not consumed by this app.`);
      return renderTimetable(timetable(found.policy));
    },
  };
  return app;
}

function consumeArguments(
  queue: string,
  second: unknown,
  third: unknown,
): { options: ConsumeOptions; handler: Handler | URL } {
  if (typeof second === 'function') return { options: {}, handler: second as Handler };
  const { handler, ...options } = second as ConsumeOptions & { handler?: URL };
  if (typeof third === 'function' && handler === undefined && options.isolate === undefined)
    return { options, handler: third as Handler };
  if (handler instanceof URL && third === undefined && options.isolate !== undefined) return { options, handler };
  throw new LazaretError('LZ1004', `queue '${queue}' has no handler that fits its options.`, {
    hint: "Give a function; or, with isolate: 'process', the option handler: new URL('./handler.js', import.meta.url).",
  });
}

/** What cannot cross to another process would be ignored there. */
function refuseClosures(queue: string, options: ConsumeOptions): void {
  for (const name of ['schema', 'poison', 'transient'] as const) {
    if (options[name] === undefined) continue;
    throw new LazaretError('LZ1004', `queue '${queue}': '${name}' cannot be used together with isolate.`, {
      hint:
        name === 'schema' ? "Export 'schema' from the handler file." : "Throw Poison or Transient, or use 'classify'.",
    });
  }
}

function notNow(what: string): LazaretError {
  return new LazaretError('LZ1054', `${what}.`);
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
