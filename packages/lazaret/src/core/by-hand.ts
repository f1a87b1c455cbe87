import { formatDuration, parseDuration, parseRate } from './duration.ts';
import { optionError, shown } from './option-error.ts';
import { type Given, givenOptions, oneOf, wholeNumber } from './option-values.ts';
import { LONGEST_ORDER_MS, MOMENT_MS, type StandingOrder, type Want } from './storm/standing-orders.ts';

/** Every order of a person has an end and a reason. */
export interface OrderOptions {
  /** How long it holds: '30m'. At most '7d'; default '30m'. */
  readonly for?: string;
  /** For whoever asks later. 1 to 500 characters. */
  readonly why: string;
  /** Who says so. Default 'the service itself'. */
  readonly by?: string;
}

export type BreakerOrderOptions = OrderOptions & {
  /** Of this dependency; of the queue's own scope by default. */
  readonly dependency?: string;
};

export type LimitOrderOptions = BreakerOrderOptions & {
  /** So many run at once, at most, in each process. */
  readonly concurrency?: number;
  /** So many start: '10/s'. Of the whole queue. */
  readonly rate?: string;
};

export type EndOptions = Pick<BreakerOrderOptions, 'why' | 'by'>;

const FOR = '30m';
const BY = 'the service itself';
const LONGEST_WHY = 500;
const COMMON = ['for', 'why', 'by'];
const BREAKER_STATES = ['open', 'half-open', 'closed'] as const;

/** Throws LZ1001 to LZ1003, LZ1042 and LZ1043 for what cannot be read. */
export function pauseOrder(options: unknown, now: number): StandingOrder {
  return orderOf({ set: 'paused' }, givenOptions(options, COMMON, 'pause'), now);
}

export function breakerOrder(to: unknown, options: unknown, now: number): StandingOrder {
  const given = givenOptions(options, [...COMMON, 'dependency'], 'breaker');
  const want = { set: 'breaker', to: oneOf(BREAKER_STATES, to, 'breaker'), ...dependencyIn(given) } as const;
  return orderOf(want, given, now);
}

/** One order for each limit that is named. */
export function limitOrders(options: unknown, now: number): readonly StandingOrder[] {
  const given = givenOptions(options, [...COMMON, 'dependency', 'concurrency', 'rate'], 'limit');
  const [concurrency, rate] = [given.get('concurrency'), given.get('rate')];
  const wants: Want[] = [];
  if (concurrency !== undefined) {
    wants.push({ set: 'limit', limit: wholeNumber(concurrency, 'limit.concurrency', 1), ...dependencyIn(given) });
  }
  if (rate !== undefined) wants.push({ set: 'rate', rate: parseRate(rate, 'limit.rate') });
  if (rate !== undefined && concurrency === undefined && given.has('dependency')) {
    throw optionError(
      'LZ1004',
      'limit.dependency',
      'has no effect on a rate, which is that of the whole queue.',
      'Leave it out.',
    );
  }
  if (wants.length === 0) {
    throw optionError('LZ1002', 'limit', 'nothing is limited.', "Write concurrency: 2, or rate: '10/s'.");
  }
  return wants.map((want) => orderOf(want, given, now));
}

export function forgiveOrder(fingerprint: unknown, options: unknown, now: number): StandingOrder {
  const given = givenOptions(options, ['why', 'by'], 'forgive');
  return momentOf({ set: 'forgiven', fingerprint: textOf(fingerprint, 'fingerprint') }, given, now);
}

export function resumeOrder(options: unknown, now: number): StandingOrder {
  return momentOf({ set: 'resumed' }, givenOptions(options, ['why', 'by'], 'resume'), now);
}

/** What lifts an order is said with a reason, too. */
export function checkEnd(options: unknown, where: string, more: readonly string[] = []): Given {
  const given = givenOptions(options, ['why', 'by', ...more], where);
  textOf(given.get('why'), `${where}.why`);
  return given;
}

export function dependencyIn(given: Given): { readonly dependency?: string } {
  const dependency = given.get('dependency');
  return dependency === undefined ? {} : { dependency: textOf(dependency, 'dependency') };
}

function orderOf(want: Want, given: Given, now: number): StandingOrder {
  const forMs = parseDuration(given.get('for') ?? FOR, 'for');
  if (forMs > LONGEST_ORDER_MS || forMs < 1) {
    const todo = `An order holds for ${formatDuration(LONGEST_ORDER_MS)} at most; give it again when it ends.`;
    throw optionError('LZ1003', 'for', `${shown(given.get('for'))} is out of range.`, todo);
  }
  return signed(want, given, now, forMs);
}

/** Done at once: no end to choose. */
function momentOf(want: Want, given: Given, now: number): StandingOrder {
  return signed(want, given, now, MOMENT_MS);
}

function signed(want: Want, given: Given, now: number, forMs: number): StandingOrder {
  const at = Math.round(now);
  const by = given.get('by');
  return {
    want,
    at,
    untilAt: at + forMs,
    why: textOf(given.get('why'), 'why'),
    by: by === undefined ? BY : textOf(by, 'by'),
  };
}

function textOf(value: unknown, option: string): string {
  const todo = `Write 1 to ${LONGEST_WHY} characters.`;
  if (typeof value !== 'string') throw optionError('LZ1002', option, `${shown(value)} is not text.`, todo);
  if (value.trim() === '' || value.length > LONGEST_WHY) {
    throw optionError('LZ1003', option, `${value.length} characters are out of range.`, todo);
  }
  return value;
}
