import { parseDuration } from './core/duration.ts';
import { refuseUnknown } from './core/options.ts';
import { driverAt } from './drivers.ts';
import { STDERR_LOGGER } from './logger.ts';
import type { Driver } from './ports/broker.ts';
import type { Logger } from './ports/logger.ts';
import type { System } from './ports/system.ts';
import type { App } from './runtime/app.ts';
import { createApp } from './runtime/app.ts';
import type { Handler } from './runtime/inline.ts';
import type { LoopMessage, LoopOptions, Verdict } from './runtime/resilient.ts';
import { resilientOn } from './runtime/resilient.ts';
import { realSystem } from './system.ts';

export interface LazaretOptions {
  /** 'sqlite:./orders.db', 'memory:', or what a driver's factory gives. */
  readonly broker: string | Driver;
  /** Consumer group, where the broker has them. */
  readonly group?: string;
  /** `false` is silence. By default warnings and errors go to stderr, one JSON line each. */
  readonly logger?: Logger | false;
  /** Version of your service: goes into the evidence of every dead letter. */
  readonly version?: string;
  /** How long a pull of an empty queue waits; below the stop budget. Default '5s'. */
  readonly wait?: string;
  /** Another clock, for tests. */
  readonly system?: System;
}

const OPTIONS = ['broker', 'group', 'logger', 'version', 'wait', 'system'] as const;
const SILENCE: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** An app over one broker. Options are checked now (LZ10xx); the broker is reached by the first `send` or by `start`. */
export function lazaret<Queues extends object = Record<string, unknown>>(options: LazaretOptions): App<Queues> {
  refuseUnknown(options, OPTIONS, 'lazaret');
  const { broker, group, logger = STDERR_LOGGER, version, wait = '5s', system = realSystem } = options;
  return createApp({
    driver: typeof broker === 'string' ? driverAt(broker) : broker,
    system,
    logger: logger === false ? SILENCE : logger,
    group,
    version,
    waitMs: parseDuration(wait, 'wait'),
  }) as unknown as App<Queues>;
}

/** The decisions of a consumer for a loop you already have: answers what to do with each message, and never rejects. */
export function resilient<T = unknown>(
  handler: Handler<T>,
  options: LoopOptions<T> = {},
): (message: LoopMessage) => Promise<Verdict> {
  return resilientOn(realSystem, handler, options);
}

export type { ErrorCode } from './core/errors.ts';
export { isLazaretError, LazaretError } from './core/errors.ts';
export type { Evidence, Reason } from './core/evidence.ts';
export { DecodeError, isPoison, isTransient, Poison, SchemaError, Transient } from './core/failures.ts';
export type { HeaderList, HeaderValue, Message } from './core/message.ts';
export type { ConsumeOptions } from './core/options.ts';
export type * from './ports/index.ts';
export type { App, BatchQueueOptions, IsolatedQueueOptions, QueueOptions } from './runtime/app.ts';
export type { BatchContext, BatchHandler } from './runtime/batch.ts';
export type { StopCounts } from './runtime/consumer.ts';
export type { Context } from './runtime/context.ts';
export type { EventName, Events, Listener, MessageEvent } from './runtime/events.ts';
export type { Counts, Health, QueueHealth } from './runtime/health.ts';
export type { Handler } from './runtime/inline.ts';
export type { SendOptions } from './runtime/outgoing.ts';
export type { ReceivedMessage } from './runtime/received.ts';
export type { LoopMessage, LoopOptions, Verdict } from './runtime/resilient.ts';
export type { Schema } from './runtime/schema.ts';
export { realSystem } from './system.ts';
