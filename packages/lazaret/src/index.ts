import { driverAt } from './drivers.ts';
import { stderrLogger } from './logger.ts';
import type { App } from './runtime/app.ts';
import { createApp } from './runtime/app.ts';
import { appOptions, type LazaretOptions } from './runtime/app-options.ts';
import type { Handler } from './runtime/inline.ts';
import type { LoopMessage, LoopOptions, Verdict } from './runtime/resilient.ts';
import { resilientOn } from './runtime/resilient.ts';
import { storeAt } from './stores.ts';
import { realSystem } from './system.ts';

/** An app over one broker. Options are checked now (LZ10xx); the broker is reached by the first `send` or by `start`. */
export function lazaret<Queues extends object = Record<string, unknown>>(options: LazaretOptions): App<Queues> {
  const { broker, store, group, version, waitMs, ...given } = appOptions(options);
  const { system = realSystem, logger = stderrLogger(system) } = given;
  return createApp({
    driver: typeof broker === 'string' ? driverAt(broker) : broker,
    store: typeof store === 'string' ? storeAt(store) : store,
    system,
    logger: logger === false ? undefined : logger,
    group,
    version,
    waitMs,
  }) as unknown as App<Queues>;
}

/** The decisions of a consumer for a loop you already have: answers what to do with each message, and never rejects. */
export function resilient<T = unknown>(
  handler: Handler<T>,
  options: LoopOptions<T> = {},
): (message: LoopMessage) => Promise<Verdict> {
  return resilientOn(realSystem, handler, options);
}

export type { BreakerOrderOptions, EndOptions, LimitOrderOptions, OrderOptions } from './core/by-hand.ts';
export type { ClassifyRules, ErrorClass, UserVerdict } from './core/classify.ts';
export type { ErrorCode } from './core/errors.ts';
export { isLazaretError, LazaretError } from './core/errors.ts';
export type { Evidence, Reason } from './core/evidence.ts';
export type { SchemaIssue, TransientOptions } from './core/failures.ts';
export {
  DecodeError,
  isDecodeError,
  isPoison,
  isSchemaError,
  isTransient,
  Poison,
  SchemaError,
  Transient,
} from './core/failures.ts';
export type { HeaderList, HeaderValue, Message, Native } from './core/message.ts';
export type { NormalError } from './core/normalise.ts';
export type {
  BackoffOption,
  BreakerOptions,
  ConsumeOptions,
  ExponentialOptions,
  IsolateOptions,
  JitterOption,
  ParkingOptions,
  StormOptions,
} from './core/options.ts';
export type { Schema, SchemaResult } from './core/schema.ts';
export type { BreakerState } from './core/storm/breaker.ts';
export type { StandingOrder } from './core/storm/standing-orders.ts';
export type { BreakerView, GateView, ScopeView } from './core/storm/view.ts';
export type * from './ports/index.ts';
export type { App, BatchQueueOptions, IsolatedQueueOptions, QueueOptions, StopOptions } from './runtime/app.ts';
export type { LazaretOptions } from './runtime/app-options.ts';
export type { BatchContext, BatchHandler } from './runtime/batch.ts';
export { changeOrders } from './runtime/change-orders.ts';
export type { StopCounts } from './runtime/consumer.ts';
export type { Context } from './runtime/context.ts';
export type { EventName, Events, Listener, MessageEvent, StormEvent } from './runtime/events.ts';
export type { Counts, Health, QueueHealth } from './runtime/health.ts';
export type { Handler } from './runtime/inline.ts';
export type { SendOptions } from './runtime/outgoing.ts';
export type { ReceivedMessage } from './runtime/received.ts';
export type { LoopMessage, LoopOptions, Verdict } from './runtime/resilient.ts';
export { realSystem } from './system.ts';
