import { optionError, shown } from '../core/option-error.ts';
import { durationFrom, type Given, givenOptions } from '../core/option-values.ts';
import { readVersion } from '../core/options.ts';
import type { Driver } from '../ports/broker.ts';
import type { Logger } from '../ports/logger.ts';
import type { StoreDriver } from '../ports/store.ts';
import type { System } from '../ports/system.ts';

export interface LazaretOptions {
  /** 'sqlite:./orders.db', 'memory:', or what a driver's factory gives. */
  readonly broker: string | Driver;
  /**
   * Where starts and failures are kept when the broker itself does not remember them (SQS, NATS; RabbitMQ's crashes): 'sqlite:./journal.db', or
   * what a store's factory gives. None by default: the broker's own count has to do then.
   */
  readonly store?: string | StoreDriver;
  /** Consumer group, where the broker has them; SQLite refuses it (LZ1004). None by default. */
  readonly group?: string;
  /** `false` is silence. By default warnings and errors go to stderr, one JSON line each. */
  readonly logger?: Logger | false;
  /** Version of your service: goes into the evidence of every dead letter. 1 to 100 characters; none by default. */
  readonly version?: string;
  /** How long a pull of an empty queue waits; below the stop budget. At least '100ms'; default '5s'. */
  readonly wait?: string;
  /** Another clock, for tests. */
  readonly system?: System;
}

/** What was given, checked; what was not given is absent. */
export interface AppOptions {
  readonly broker: string | Driver;
  readonly store: string | StoreDriver | undefined;
  readonly group: string | undefined;
  readonly logger: Logger | false | undefined;
  readonly version: string | undefined;
  readonly waitMs: number;
  readonly system: System | undefined;
}

const NAMES: Readonly<Record<keyof LazaretOptions, true>> = {
  broker: true,
  store: true,
  group: true,
  logger: true,
  version: true,
  wait: true,
  system: true,
};

/** A shorter wait is a busy loop. */
const LEAST_WAIT_MS = 100;

const LOGGER_METHODS = ['debug', 'info', 'warn', 'error'] as const;
const SYSTEM_METHODS = ['now', 'monotonic', 'random', 'id', 'after', 'stayAlive', 'turn'] as const;

/** Throws LZ1001 (unknown option), LZ1002 (wrong type), LZ1003 (out of range), LZ1042 and LZ1043 (durations). */
export function appOptions(options: unknown): AppOptions {
  const given = givenOptions(options, Object.keys(NAMES), 'lazaret');
  return {
    broker: readBroker(given),
    store: readStore(given),
    group: readGroup(given),
    logger: given.get('logger') === false ? false : readObject<Logger>(given, 'logger', LOGGER_METHODS),
    version: readVersion(given.get('version')),
    waitMs: durationFrom(LEAST_WAIT_MS, given.get('wait') ?? '5s', 'wait'),
    system: readObject<System>(given, 'system', SYSTEM_METHODS),
  };
}

function readBroker(given: Given): string | Driver {
  const broker = given.get('broker');
  const todo = "Write an address such as 'sqlite:./orders.db', or hand in what a driver's factory gives.";
  if (broker === undefined) throw optionError('LZ1002', 'broker', 'none is given.', todo);
  if (typeof broker === 'string') return broker;
  if (!has(broker, ['connect'])) throw optionError('LZ1002', 'broker', `${shown(broker)} is no driver.`, todo);
  return broker as Driver;
}

function readStore(given: Given): string | StoreDriver | undefined {
  const store = given.get('store');
  if (store === undefined || typeof store === 'string') return store;
  const todo = "Write an address such as 'sqlite:./journal.db', or hand in what a store's factory gives.";
  if (!has(store, ['connect'])) throw optionError('LZ1002', 'store', `${shown(store)} is no store.`, todo);
  return store as StoreDriver;
}

function readGroup(given: Given): string | undefined {
  const group = given.get('group');
  if (group === undefined) return undefined;
  if (typeof group !== 'string')
    throw optionError('LZ1002', 'group', `${shown(group)} is not text.`, "Write 'billing'.");
  if (group === '') throw optionError('LZ1003', 'group', 'it is empty.', 'Write a name, or leave it out.');
  return group;
}

function readObject<T>(given: Given, option: string, methods: readonly (keyof T & string)[]): T | undefined {
  const value = given.get(option);
  if (value === undefined) return undefined;
  if (!has(value, methods)) {
    throw optionError('LZ1002', option, `${shown(value)} does not fit.`, `It needs the methods ${methods.join(', ')}.`);
  }
  return value as T;
}

function has(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== 'object' && typeof value !== 'function') return false;
  return value !== null && methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
