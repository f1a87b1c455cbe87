import type { Backoff, Jitter } from './backoff.ts';
import type { ClassifyRules } from './classify.ts';
import { refuseContradictions } from './contradictions.ts';
import { DEFAULTS, EXPONENTIAL_DEFAULTS, HEARTBEAT_SHARE, PRESETS, type PresetName, STRIKES } from './defaults.ts';
import { didYouMean } from './did-you-mean.ts';
import { formatDuration, parseDuration, parsePercent } from './duration.ts';
import { optionError, shown } from './option-error.ts';
import { durationFrom, type Given, givenOptions, notAmong, oneOf, wholeNumber, withDefaults } from './option-values.ts';
import type { ConsumerPolicy } from './policy.ts';
import type { Schema } from './schema.ts';
import { parseSize } from './size.ts';
import { type BreakerOptions, type StormOptions, stormPolicy } from './storm-options.ts';

/**
 * How a queue is consumed. Durations, sizes and percentages are text with units ('90s', '256kb', '±20%').
 */
export interface ConsumeOptions extends ClassifyRules {
  /** Runs of one message at most, the first included: 4 is one first run and three retries. Default 4, or the preset's own. */
  readonly maxAttempts?: number;
  /**
   * How waits between attempts grow: a preset ('standard' 2 s, 8 s, 30 s; 'ladder' 5, 15, 45 s, six attempts; 'exponential' 1 s
   * doubling up to 1 h; 'patient' 30 s, 2 m, 10 m, 30 m, five attempts), a list whose last delay repeats, or an exponential.
   * Default 'standard'.
   */
  readonly backoff?: BackoffOption;
  /** How waits are spread, so that messages that failed together do not come back together. Default '±20%'. */
  readonly jitter?: JitterOption;
  /** Lease of a delivery: how long the broker keeps it from others after its consumer vanished. At least '10ms'; default '90s'. */
  readonly visibilityTimeout?: string;
  /** How often leases are lengthened; `false` switches it off. Shorter than `visibilityTimeout`; default half of it. */
  readonly heartbeat?: string | false;
  /** Deadline of one run, and cap of its lease. Default '15m'. */
  readonly timeout?: string;
  /** Handlers that run at the same time. Default 10. */
  readonly concurrency?: number;
  /**
   * Handlers that run at the same time in all processes of the queue together; only where the broker is a store itself (SQLite).
   * Unlimited by default.
   */
  readonly globalConcurrency?: number;
  /**
   * Starts of this queue in a unit of time, at most: '100/s', '5/m'. Of all processes together where the broker is a store itself
   * (SQLite), else of each. Unlimited by default.
   */
  readonly rateLimit?: string;
  /** When consumption stops by itself since a dependency fails; `false`: never. Default `{ threshold: '50%', minimum: 20, … }`. */
  readonly breaker?: false | BreakerOptions;
  /**
   * The dependency that a message will need, by name: what fails together is slowed and stopped together, and the messages of others
   * flow on. `undefined` where it needs none of note; `ctx.dependency(name)` says it from inside the handler. None by default.
   */
  readonly dependency?: (message: never) => string | undefined;
  /** `false`: no storm control, so that every failure is charged and nothing is slowed; `without` leaves out mechanisms by name. On by default. */
  readonly storm?: false | StormOptions;
  /** 'key': messages with one key run one after another, in order. Default 'none'. */
  readonly ordering?: 'none' | 'key';
  /** Larger bodies go to the quarantine unseen (1kb is 1024 bytes). Default '10mb'. */
  readonly maxBody?: string;
  /** How many messages may wait for one key; only with `ordering: 'key'`. Default `{ lane: 100, quarantine: 1000 }`. */
  readonly parking?: ParkingOptions;
  /** Version of your service: written to the evidence. 1 to 100 characters; none by default. */
  readonly version?: string;
  /** Runs each message in a process of its own, at most `memory` large: a crash costs nobody else anything. Off by default. */
  readonly isolate?: 'process' | IsolateOptions;
  /**
   * `false`: this queue's starts and failures are not kept in the app's `store`; the broker's own count has to do. Only brokers that do not
   * remember them exactly (SQS, NATS, RabbitMQ) need it: with others nothing is kept there anyway. Kept by default where there is a store.
   */
  readonly journal?: boolean;
  /** Standard Schema for the decoded body; a violation is poison. None by default. */
  readonly schema?: Schema;
}

export type BackoffOption = PresetName | readonly string[] | ExponentialOptions;

export interface ExponentialOptions {
  /** The first delay. */
  readonly base: string;
  /** At least 1; default 2. */
  readonly factor?: number;
  /** No delay is longer, jitter included. Default '1h'. */
  readonly cap?: string;
}

/**
 * '±20%': within a fifth of the delay. 'full': from half of the first delay up to the delay. 'decorrelated': from the first delay
 * up to three times the wait before. 'none': the delay itself.
 */
export type JitterOption = 'none' | 'full' | 'decorrelated' | `${number}%` | `±${number}%`;

export interface ParkingOptions {
  /** Messages that may wait in memory behind one key. At least 1; default 100. */
  readonly lane?: number;
  /**
   * Successors of a dead key that are moved to the quarantine with it, counted by each process since its start; beyond it they wait in
   * the queue. At least 0; default 1000.
   */
  readonly quarantine?: number;
}

export interface IsolateOptions {
  /** Of one child process: '256mb' (1mb is 1024 × 1024 bytes). At least '48mb'; default: what the platform gives. */
  readonly memory?: string;
}

export type { BreakerOptions, StormOptions } from './storm-options.ts';

const NAMES: Readonly<Record<keyof ConsumeOptions, true>> = {
  maxAttempts: true,
  backoff: true,
  jitter: true,
  visibilityTimeout: true,
  heartbeat: true,
  timeout: true,
  concurrency: true,
  globalConcurrency: true,
  rateLimit: true,
  breaker: true,
  dependency: true,
  storm: true,
  ordering: true,
  maxBody: true,
  parking: true,
  version: true,
  classify: true,
  poison: true,
  transient: true,
  isolate: true,
  journal: true,
  schema: true,
};

export const CONSUME_OPTIONS: readonly string[] = Object.keys(NAMES);

const LEAST_LEASE_MS = 10;
const LONGEST_VERSION = 100;

/**
 * The options of a consumer, checked and in numbers, with the defaults where nothing is given. Throws LZ1001 (unknown option),
 * LZ1002 (wrong type), LZ1003 (out of range), LZ1004 (contradiction), LZ1042 and LZ1043 (durations), LZ1050 (preset). What can
 * only be called (`classify`, `schema`) is checked for its type and left where it is.
 */
export function consumerPolicy(options: ConsumeOptions = {}): ConsumerPolicy {
  const given = givenOptions(options, CONSUME_OPTIONS, 'consume');
  refuseWrongTypes(given);
  const wanted = withDefaults(given, { ...DEFAULTS, ...presetOf(given) });
  const parking = withDefaults(
    givenOptions(wanted.get('parking'), ['lane', 'quarantine'], 'parking'),
    DEFAULTS.parking,
  );
  const leaseMs = durationFrom(LEAST_LEASE_MS, wanted.get('visibilityTimeout'), 'visibilityTimeout');
  const policy: ConsumerPolicy = {
    maxAttempts: wholeNumber(wanted.get('maxAttempts'), 'maxAttempts', 1),
    backoff: readBackoff(wanted.get('backoff')),
    jitter: readJitter(wanted.get('jitter')),
    aloneStrikes: STRIKES.alone,
    crashStrikes: STRIKES.convict,
    leaseMs,
    heartbeatMs: readHeartbeat(given.get('heartbeat'), leaseMs),
    timeoutMs: durationFrom(1, wanted.get('timeout'), 'timeout'),
    concurrency: wholeNumber(wanted.get('concurrency'), 'concurrency', 1),
    globalConcurrency: readGlobalConcurrency(given.get('globalConcurrency')),
    ordering: oneOf(['none', 'key'], wanted.get('ordering'), 'ordering'),
    maxBodyBytes: parseSize(wanted.get('maxBody'), 'maxBody'),
    laneCap: wholeNumber(parking.get('lane'), 'parking.lane', 1),
    parkCap: wholeNumber(parking.get('quarantine'), 'parking.quarantine', 0),
    version: readVersion(given.get('version')),
    journal: readJournal(given.get('journal')),
    storm: stormPolicy(given),
  };
  refuseContradictions(given, policy);
  return policy;
}

function readHeartbeat(value: unknown, leaseMs: number): number | undefined {
  if (value === undefined) return Math.floor(leaseMs * HEARTBEAT_SHARE);
  return value === false ? undefined : durationFrom(1, value, 'heartbeat');
}

function readGlobalConcurrency(value: unknown): number | undefined {
  return value === undefined ? undefined : wholeNumber(value, 'globalConcurrency', 1);
}

function readJournal(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value === 'boolean') return value;
  throw optionError(
    'LZ1002',
    'journal',
    `${shown(value)} is neither true nor false.`,
    "Name the store once, as the app's 'store'.",
  );
}

/** Throws LZ1002 for what is no text, LZ1003 for an empty or a long one. */
export function readVersion(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string')
    throw optionError('LZ1002', 'version', `${shown(value)} is not text.`, "Write '1.42.1'.");
  if (value.length === 0 || value.length > LONGEST_VERSION) {
    throw optionError(
      'LZ1003',
      'version',
      `${value.length} characters are out of range.`,
      `Write 1 to ${LONGEST_VERSION}.`,
    );
  }
  return value;
}

/** What the preset that was named brings along. */
export function presetOf(given: Given): { readonly backoff: BackoffOption; readonly maxAttempts?: number } | undefined {
  const name = given.get('backoff');
  return isPreset(name) ? PRESETS[name] : undefined;
}

function isPreset(name: unknown): name is PresetName {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name);
}

function readBackoff(value: unknown): Backoff {
  if (isPreset(value)) return readBackoff(PRESETS[value].backoff);
  if (Array.isArray(value)) return readList(value);
  if (typeof value === 'object' && value !== null) return readExponential(value);
  if (typeof value === 'string') {
    const names = Object.keys(PRESETS);
    const meant = didYouMean(value, names);
    const todo =
      meant === undefined ? `Write one of ${names.join(', ')}, or a list: ['2s', '8s'].` : `Did you mean '${meant}'?`;
    throw optionError('LZ1050', 'backoff', `no such preset: ${shown(value)}.`, todo);
  }
  throw optionError(
    'LZ1002',
    'backoff',
    `${shown(value)} is no backoff.`,
    "Write a preset, ['2s', '8s'] or { base: '1s' }.",
  );
}

function readList(delays: readonly unknown[]): Backoff {
  if (delays.length === 0)
    throw optionError('LZ1003', 'backoff', 'the list is empty.', "Write at least one delay: ['2s'].");
  return { kind: 'list', delaysMs: Array.from(delays, (delay, index) => parseDuration(delay, `backoff[${index}]`)) };
}

function readExponential(value: object): Backoff {
  const wanted = withDefaults(givenOptions(value, ['base', 'factor', 'cap'], 'backoff'), EXPONENTIAL_DEFAULTS);
  const baseMs = durationFrom(1, wanted.get('base'), 'backoff.base');
  const capMs = durationFrom(1, wanted.get('cap'), 'backoff.cap');
  if (capMs < baseMs) {
    const what = `${formatDuration(capMs)} is shorter than the base, ${formatDuration(baseMs)}.`;
    throw optionError('LZ1004', 'backoff.cap', what, 'The cap is the longest delay, the base the first.');
  }
  return { kind: 'exponential', baseMs, factor: readFactor(wanted.get('factor')), capMs };
}

function readFactor(value: unknown): number {
  if (typeof value !== 'number') {
    throw optionError('LZ1002', 'backoff.factor', `${shown(value)} is not a number.`, 'Write 2 to double each delay.');
  }
  if (!Number.isFinite(value) || value < 1) {
    throw optionError('LZ1003', 'backoff.factor', `${value} is out of range.`, 'Write 1 or more: waits never shrink.');
  }
  return value;
}

function readJitter(value: unknown): Jitter {
  if (value === 'none' || value === 'full' || value === 'decorrelated') return { kind: value };
  if (typeof value === 'string' && !value.includes('%'))
    throw notAmong(['none', 'full', 'decorrelated', '±20%'], value, 'jitter');
  const share = parsePercent(value, 'jitter');
  if (share >= 1) {
    throw optionError(
      'LZ1003',
      'jitter',
      `${shown(value)} would let a retry follow at once.`,
      "Stay below 100%, or write 'full'.",
    );
  }
  return share === 0 ? { kind: 'none' } : { kind: 'proportional', share };
}

function refuseWrongTypes(given: Given): void {
  for (const name of ['classify', 'dependency']) {
    const value = given.get(name);
    if (value !== undefined && typeof value !== 'function') {
      throw optionError('LZ1002', name, `${shown(value)} is not a function.`, 'Write a function.');
    }
  }
  for (const name of ['poison', 'transient']) {
    const value = given.get(name);
    if (value === undefined) continue;
    if (!Array.isArray(value)) {
      throw optionError('LZ1002', name, `${shown(value)} is not a list.`, 'Write a list of error classes.');
    }
    for (const [index, entry] of value.entries()) {
      if (isClass(entry)) continue;
      throw optionError(
        'LZ1002',
        `${name}[${index}]`,
        `${shown(entry)} is no error class.`,
        'Write a class, such as RangeError.',
      );
    }
  }
  const schema = given.get('schema');
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw optionError(
      'LZ1002',
      'schema',
      `${shown(schema)} is no Standard Schema.`,
      'Hand in what zod, valibot or arktype make.',
    );
  }
  const isolate = given.get('isolate');
  if (isolate !== undefined && isolate !== 'process') {
    const memory = givenOptions(isolate, ['memory'], 'isolate').get('memory');
    if (memory !== undefined) parseSize(memory, 'isolate.memory');
  }
}

/** What `instanceof` can be asked about: an arrow function has no prototype to look for. */
function isClass(value: unknown): boolean {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

function isStandardSchema(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}
