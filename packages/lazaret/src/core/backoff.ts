/** How waits grow. Beyond the end of a list its last value repeats; an exponent is capped before anything else. */
export type Backoff =
  | { readonly kind: 'list'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly capMs: number };

/** How waits are spread. `share` of 0.2 means ±20 %. */
export type Jitter =
  | { readonly kind: 'none' }
  | { readonly kind: 'full' }
  | { readonly kind: 'decorrelated' }
  | { readonly kind: 'proportional'; readonly share: number };

/** Every whole millisecond from `floorMs` to `ceilingMs`; without jitter the wait would be `nominalMs`. */
export interface DelayWindow {
  readonly floorMs: number;
  readonly nominalMs: number;
  readonly ceilingMs: number;
}

/** Decorrelated waits grow from one draw to the next by up to this. */
const DECORRELATED_GROWTH = 3;
/** Decorrelated waits are recomputed over at most so many draws; from any sensible base the cap is within reach. */
const DECORRELATED_DRAWS = 64;

/**
 * The wait after the failure of `attempt` (1 is the first run), in whole milliseconds: one draw inside `delayWindow`, and never
 * a clamp of what was drawn, so that no value of the window is more likely than its neighbours. `draw(n)` is uniform in [0, 1);
 * asked for `n = attempt`, by decorrelated jitter also for the (at most 63) attempts before it.
 */
export function backoffDelay(backoff: Backoff, jitter: Jitter, attempt: number, draw: (n: number) => number): number {
  if (jitter.kind === 'decorrelated') return decorrelatedDelay(backoff, attempt, draw);
  const { floorMs, ceilingMs } = delayWindow(backoff, jitter, attempt);
  return wholeBetween(floorMs, ceilingMs, draw(attempt));
}

/**
 * Where the wait after `attempt` can lie; asks without drawing.
 *
 * - none: the delay itself.
 * - proportional: ±share around the delay; an exponential never passes its cap, so that ±20 % at the cap is [0.8 cap, cap].
 *   A list has no cap: ±20 % of its last 30 s is 24 to 36 s.
 * - full: from half of the first delay up to the delay. Not from 0, since a retry at once meets the fault that is still there;
 *   not clamped up to the first delay either, which would put all first retries on that one point.
 * - decorrelated: from the first delay up to what `attempt` draws of growth 3 can reach, at most the cap (of a list: its
 *   largest value). Each draw is even over its own window, so that over all messages short waits are likelier than long ones.
 */
export function delayWindow(backoff: Backoff, jitter: Jitter, attempt: number): DelayWindow {
  const nominalMs = nominalDelay(backoff, attempt);
  switch (jitter.kind) {
    case 'none':
      return { floorMs: nominalMs, nominalMs, ceilingMs: nominalMs };
    case 'proportional': {
      // The share of 100 ms that 0.29 is falls a hair short of 29.
      const spreadMs = Math.floor(nominalMs * jitter.share + 1e-6);
      return { floorMs: nominalMs - spreadMs, nominalMs, ceilingMs: Math.min(nominalMs + spreadMs, capOf(backoff)) };
    }
    case 'full':
      return { floorMs: Math.ceil(Math.min(firstDelay(backoff), nominalMs) / 2), nominalMs, ceilingMs: nominalMs };
    case 'decorrelated': {
      const { firstMs, capMs } = backoffRange(backoff);
      const ceilingMs = growth(firstMs, DECORRELATED_GROWTH, attempt, capMs);
      return { floorMs: firstMs, nominalMs: ceilingMs, ceilingMs };
    }
  }
}

/** The attempt from which on `delayWindow` stays the same: long timetables need not be walked. */
export function steadyFrom(backoff: Backoff, jitter: Jitter): number {
  if (jitter.kind === 'decorrelated') {
    const { firstMs, capMs } = backoffRange(backoff);
    return Math.max(1, stepsToCap(firstMs, DECORRELATED_GROWTH, capMs));
  }
  if (backoff.kind === 'list') return Math.max(1, backoff.delaysMs.length);
  return 1 + stepsToCap(backoff.baseMs, backoff.factor, backoff.capMs);
}

/** Each draw lies between the first delay and three times the wait before it, at most the cap. */
function decorrelatedDelay(backoff: Backoff, attempt: number, draw: (n: number) => number): number {
  const { firstMs, capMs } = backoffRange(backoff);
  let delayMs = firstMs;
  for (let n = Math.max(1, attempt - DECORRELATED_DRAWS + 1); n <= attempt; n++) {
    delayMs = wholeBetween(firstMs, Math.min(delayMs * DECORRELATED_GROWTH, capMs), draw(n));
  }
  return delayMs;
}

/** First and longest delay before jitter. */
export function backoffRange(backoff: Backoff): { firstMs: number; capMs: number } {
  const firstMs = firstDelay(backoff);
  return {
    firstMs,
    capMs: backoff.kind === 'list' ? backoff.delaysMs.reduce((a, b) => Math.max(a, b), firstMs) : backoff.capMs,
  };
}

function nominalDelay(backoff: Backoff, attempt: number): number {
  if (backoff.kind === 'list') return backoff.delaysMs[Math.min(attempt, backoff.delaysMs.length) - 1] ?? 0;
  return growth(backoff.baseMs, backoff.factor, attempt - 1, backoff.capMs);
}

function firstDelay(backoff: Backoff): number {
  return nominalDelay(backoff, 1);
}

function capOf(backoff: Backoff): number {
  return backoff.kind === 'list' ? Number.POSITIVE_INFINITY : backoff.capMs;
}

/** `firstMs` after `steps` of growth, at most the cap. */
function growth(firstMs: number, factor: number, steps: number, capMs: number): number {
  const cappedSteps = Math.min(steps, stepsToCap(firstMs, factor, capMs));
  return Math.min(Math.round(firstMs * factor ** cappedSteps), capMs);
}

/** So many steps reach the cap; more change nothing. What does not grow is where it will be at once. */
function stepsToCap(firstMs: number, factor: number, capMs: number): number {
  if (factor <= 1 || firstMs <= 0 || firstMs >= capMs) return 0;
  return Math.ceil(Math.log(capMs / firstMs) / Math.log(factor));
}

/** Every whole number from `low` to `high` is as likely as the others. */
function wholeBetween(low: number, high: number, draw: number): number {
  return low + Math.floor(draw * (high - low + 1));
}
