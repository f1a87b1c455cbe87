import { formatDuration, parsePercent, parseRate } from './duration.ts';
import { optionError, shown } from './option-error.ts';
import { durationFrom, type Given, givenOptions, notAmong, wholeNumber } from './option-values.ts';
import type { StormPolicy } from './policy.ts';
import { type BreakerNumbers, MECHANISMS, type Mechanism, STORM } from './storm/numbers.ts';

/** When a breaker opens and for how long. It opens for one dependency of a queue, or for all of a queue that names none. */
export interface BreakerOptions {
  /** The share of dependency failures at which it opens. Default '50%'. */
  readonly threshold?: string;
  /** Among at least so many outcomes. Default 20. */
  readonly minimum?: number;
  /** Of this time. Default '10s'. */
  readonly window?: string;
  /** How long it stays open first; twice as long after each failed probe. Default '5s'. */
  readonly openFor?: string;
  /** The longest it stays open between two probes; what a dependency asks for itself can be longer. Default '20s', or `openFor`. */
  readonly longest?: string;
}

export interface StormOptions {
  /** Mechanisms that are switched off, by name. */
  readonly without?: readonly StormMechanism[];
}

/** A limit of the rate is switched off by not writing one. */
type StormMechanism = Exclude<Mechanism, 'rate'>;

const BREAKER_NAMES: Readonly<Record<keyof BreakerOptions, true>> = {
  threshold: true,
  minimum: true,
  window: true,
  openFor: true,
  longest: true,
};
const SWITCHABLE = MECHANISMS.filter((name) => name !== 'rate');

/**
 * What `rateLimit`, `breaker` and `storm` say. Throws LZ1001 (unknown option), LZ1002 (wrong type), LZ1003 (out of range), LZ1004
 * (contradiction), LZ1042 and LZ1043 (durations), LZ1044 (rate).
 */
export function stormPolicy(given: Given): StormPolicy {
  const rate = given.get('rateLimit');
  const breaker = given.get('breaker');
  const off = readStorm(given.get('storm'));
  if (breaker !== undefined && off.includes('breaker')) {
    throw optionError('LZ1004', 'breaker', "has no effect, since 'storm' switches it off.", 'Remove one of them.');
  }
  return {
    rate: rate === undefined ? undefined : parseRate(rate, 'rateLimit'),
    off: breaker === false ? [...off, 'breaker'] : off,
    numbers: breaker === undefined || breaker === false ? {} : { breaker: readBreaker(breaker) },
  };
}

function readStorm(value: unknown): readonly Mechanism[] {
  if (value === undefined) return [];
  if (value === false) return SWITCHABLE;
  const without = givenOptions(value, ['without'], 'storm').get('without');
  if (without === undefined) return [];
  if (!Array.isArray(without)) {
    throw optionError('LZ1002', 'storm.without', `${shown(without)} is not a list.`, "Write ['fuse'].");
  }
  return Array.from(without, (name, index) => {
    const known = SWITCHABLE.find((mechanism) => mechanism === name);
    if (known === undefined) throw notAmong(SWITCHABLE, name, `storm.without[${index}]`);
    return known;
  });
}

function readBreaker(value: unknown): Partial<BreakerNumbers> {
  const given = givenOptions(value, Object.keys(BREAKER_NAMES), 'breaker');
  const threshold = given.get('threshold');
  const minimum = given.get('minimum');
  const window = given.get('window');
  const openFor = given.get('openFor');
  const longest = given.get('longest');
  const numbers = {
    ...(threshold === undefined ? {} : { share: readThreshold(threshold) }),
    ...(minimum === undefined ? {} : { least: wholeNumber(minimum, 'breaker.minimum', 1) }),
    ...(window === undefined ? {} : { windowMs: durationFrom(100, window, 'breaker.window') }),
    ...(openFor === undefined ? {} : { openMs: durationFrom(1, openFor, 'breaker.openFor') }),
    ...(longest === undefined ? {} : { longestOpenMs: durationFrom(1, longest, 'breaker.longest') }),
  };
  const { openMs, longestOpenMs } = { ...STORM.breaker, ...numbers };
  if (longestOpenMs >= openMs) return numbers;
  if (longest === undefined) return { ...numbers, longestOpenMs: openMs };
  const what = `${formatDuration(longestOpenMs)} is shorter than openFor, ${formatDuration(openMs)}.`;
  throw optionError('LZ1004', 'breaker.longest', what, 'openFor is the first time, longest the last.');
}

function readThreshold(value: unknown): number {
  const share = parsePercent(value, 'breaker.threshold');
  if (share > 0) return share;
  throw optionError(
    'LZ1003',
    'breaker.threshold',
    `${shown(value)} would open it without a failure.`,
    "Write '50%', or breaker: false.",
  );
}
