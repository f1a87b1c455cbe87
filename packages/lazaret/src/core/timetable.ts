import { type DelayWindow, delayWindow, steadyFrom } from './backoff.ts';
import { formatDuration, largestUnit } from './duration.ts';
import type { Origin } from './origins.ts';
import type { ConsumerPolicy, Policy } from './policy.ts';

/** What a policy does with a message that fails every time, as far as the policy alone decides: no `Retry-After`, no outage. */
export interface Timetable {
  readonly maxAttempts: number;
  /** One per wait; of more than six attempts the first three and the last. */
  readonly rows: readonly TimetableRow[];
  /** All waits at their longest. */
  readonly waitingMs: number;
  /** From the first start to the quarantine, all waits and handlers at their longest. */
  readonly worstCaseMs: number;
  /** For people: worst case, poison, and what they may not expect of their options. */
  readonly sentences: readonly string[];
}

/** The failure of `attempt`, the wait after it, and the sum of the longest waits up to there. */
export interface TimetableRow {
  readonly attempt: number;
  readonly wait: DelayWindow;
  readonly waitedMs: number;
}

/** What is measured rather than configured. */
export interface TimetableFacts {
  /** The 99th percentile of the handler's run time; without it a handler is reckoned with its whole timeout. */
  readonly handlerP99Ms?: number;
}

const ALL_SHOWN = 6;
const FIRST_SHOWN = 3;
const POISON = 'Poison, DecodeError, schema, HTTP 400/410/422, SQLSTATE 22, 23';

export function timetable(policy: Policy & Pick<ConsumerPolicy, 'timeoutMs'>, facts: TimetableFacts = {}): Timetable {
  const { maxAttempts } = policy;
  const waitingMs = longestWaits(policy, maxAttempts - 1);
  const handlerMs = facts.handlerP99Ms ?? policy.timeoutMs;
  const worstCaseMs = waitingMs + maxAttempts * handlerMs;
  const handler = `${facts.handlerP99Ms === undefined ? 'timeout' : 'p99'} ${say(handlerMs)}`;
  const waiting = waitingMs === 0 ? 'no waiting' : `${say(waitingMs)} of waiting`;
  return {
    maxAttempts,
    rows: shownAttempts(maxAttempts).map((attempt) => rowOf(policy, attempt)),
    waitingMs,
    worstCaseMs,
    sentences: [
      `worst case to quarantine: ${waiting} + ${maxAttempts} × handler (${handler}) = ${say(worstCaseMs)}`,
      `poison (${POISON}): quarantine on attempt 1`,
      ...repetition(policy),
    ],
  };
}

/** The chain of attempts on one line, then the sentences, one a line. */
export function renderTimetable({ maxAttempts, rows, sentences }: Timetable): string {
  const steps: string[] = [];
  let next = 1;
  for (const { attempt, wait } of rows) {
    if (attempt > next) steps.push('…');
    steps.push(`attempt ${attempt}`, ...(attempt === 1 ? ['fails'] : []), `wait ${sayWindow(wait)}`);
    next = attempt + 1;
  }
  steps.push(`attempt ${maxAttempts}`, 'fails', 'quarantine');
  return [steps.join(' ─ '), ...sentences].join('\n');
}

/** Where the values come from, on one line. */
export function renderOrigins(origins: readonly Origin[]): string {
  return `values from: ${origins.map(({ option, from }) => `${option} ← ${from}`).join(' · ')}`;
}

function rowOf(policy: Policy, attempt: number): TimetableRow {
  return {
    attempt,
    wait: delayWindow(policy.backoff, policy.jitter, attempt),
    waitedMs: longestWaits(policy, attempt),
  };
}

/** The attempts after which a wait is shown. */
function shownAttempts(maxAttempts: number): readonly number[] {
  const first = Array.from({ length: Math.min(maxAttempts - 1, ALL_SHOWN - 1) }, (_, index) => index + 1);
  return maxAttempts <= ALL_SHOWN ? first : [...first.slice(0, FIRST_SHOWN), maxAttempts - 1];
}

/** The sum of the longest waits after the attempts 1 … `waits`. Walks only as far as they still grow. */
export function longestWaits({ backoff, jitter }: Policy, waits: number): number {
  const growing = Math.min(waits, steadyFrom(backoff, jitter));
  let sumMs = 0;
  let lastMs = 0;
  for (let attempt = 1; attempt <= growing; attempt++) {
    lastMs = delayWindow(backoff, jitter, attempt).ceilingMs;
    sumMs += lastMs;
  }
  return sumMs + (waits - growing) * lastMs;
}

function repetition({ backoff, jitter, maxAttempts }: Policy): readonly string[] {
  const waits = maxAttempts - 1;
  if (backoff.kind !== 'list' || backoff.delaysMs.length >= waits || jitter.kind === 'decorrelated') return [];
  const count = backoff.delaysMs.length;
  return [
    `the backoff names ${count} ${count === 1 ? 'delay' : 'delays'} for ${waits} waits: ${say(backoff.delaysMs.at(-1)!)} repeats`,
  ];
}

/** '2 s (1.6–2.4)', '1 m 30 s (1 m 12 s–1 m 48 s)'; '1–2 s' where the wait before jitter is also the longest. */
function sayWindow(wait: DelayWindow): string {
  const { floorMs, nominalMs, ceilingMs } = wait;
  if (floorMs === ceilingMs) return say(nominalMs);
  const unit = commonUnit(wait);
  const from = unit === undefined ? say(floorMs) : floorMs / unit.ms;
  const to = unit === undefined ? say(ceilingMs) : ceilingMs / unit.ms;
  if (nominalMs < ceilingMs) return `${say(nominalMs)} (${from}–${to})`;
  return unit === undefined ? `${from}–${to}` : `${from}–${to} ${unit.name}`;
}

/** The unit of the nominal wait, where two decimals of it say floor and ceiling exactly. */
function commonUnit({ floorMs, nominalMs, ceilingMs }: DelayWindow): { name: string; ms: number } | undefined {
  const [name, ms] = largestUnit(nominalMs);
  const spokenInOneUnit = ms <= 1000 || nominalMs % ms === 0;
  const exact = (floorMs * 100) % ms === 0 && (ceilingMs * 100) % ms === 0;
  return spokenInOneUnit && exact ? { name, ms } : undefined;
}

/** Spaced for reading: '3 m 32 s'. From a minute on whole seconds do, rounded up. */
function say(ms: number): string {
  const rounded = ms < 60_000 ? ms : Math.ceil(ms / 1000) * 1000;
  return formatDuration(rounded).replace(/[0-9](?=[a-z])|[a-z](?=[0-9])/g, '$& ');
}
