import type { SimulationRun, SimulationSeries } from 'lazaret/testing';
import type { Arm } from './arms.ts';

/** One figure over all seeds: the median, and from the 5th to the 95th percentile. `null`: it did not happen before the end. */
export interface Spread {
  readonly low: number | null;
  readonly median: number | null;
  readonly high: number | null;
}

/** One arm over all of its seeds. */
export interface Summary {
  readonly arm: string;
  readonly says: string;
  readonly seeds: number;
  readonly callsInTrouble: Spread;
  /** Messages done in a second. */
  readonly goodputInTrouble: Spread;
  readonly goodputAfter: Spread;
  /** Since the trouble ended. */
  readonly recoveredAfterMs: Spread;
  readonly drainedAfterMs: Spread;
  /** Healthy messages. */
  readonly quarantined: Spread;
  readonly callsPerSuccess: Spread;
}

const LOW = 0.05;
const HIGH = 0.95;
/** Digits of milliseconds: a simulation is looked at once in a second. */
const WHOLE_SECONDS = -3;

export function summaryOf({ name, says }: Arm, runs: readonly SimulationRun[]): Summary {
  const of = (value: (run: SimulationRun) => number | undefined, digits = 0) =>
    spreadOf(
      runs.map((run) => value(run) ?? Number.POSITIVE_INFINITY),
      digits,
    );
  return {
    arm: name,
    says,
    seeds: runs.length,
    callsInTrouble: of(({ callsInTrouble }) => callsInTrouble),
    goodputInTrouble: of(({ goodputInTrouble }) => goodputInTrouble, 1),
    goodputAfter: of(({ goodputAfter }) => goodputAfter, 1),
    recoveredAfterMs: of(({ recoveredAfterMs }) => recoveredAfterMs, WHOLE_SECONDS),
    drainedAfterMs: of(({ drainedAfterMs }) => drainedAfterMs, WHOLE_SECONDS),
    quarantined: of(({ quarantined }) => quarantined),
    callsPerSuccess: of(({ calls, done }) => (done === 0 ? undefined : calls / done), 2),
  };
}

/** Of figures that are infinite where something never happened. */
export function spreadOf(values: readonly number[], digits: number): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => {
    const value = quantile(sorted, share);
    return Number.isFinite(value) ? Number(`${Math.round(Number(`${value}e${digits}`))}e${-digits}`) : null;
  };
  return { low: at(LOW), median: at(0.5), high: at(HIGH) };
}

/** One row of numbers over all seeds, step by step. */
export interface Band {
  readonly low: readonly number[];
  readonly median: readonly number[];
  readonly high: readonly number[];
}

export type NumberRow = 'goodput' | 'calls' | 'limit' | 'open' | 'ageMs' | 'quarantined';

export function bandOf(all: readonly SimulationSeries[], row: NumberRow): Band {
  const steps = Math.min(...all.map((series) => series[row].length));
  const sorted = Array.from({ length: steps }, (_, step) =>
    all.map((series) => series[row][step]!).sort((a, b) => a - b),
  );
  const line = (share: number) => sorted.map((values) => quantile(values, share));
  return { low: line(LOW), median: line(0.5), high: line(HIGH) };
}

/** Of sorted values, between two of them in proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  // n.b. the difference of two infinities is no number.
  return below === above ? below : below + (above - below) * (place - Math.floor(place));
}
