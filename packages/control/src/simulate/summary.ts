import type { SimulationRun, SimulationSeries } from 'lazaret/testing';
import type { Arm } from './arms.ts';

/** One arm over all of its seeds: medians. `null`: it did not happen before the end. */
export interface Summary {
  readonly arm: string;
  readonly says: string;
  readonly seeds: number;
  readonly callsInTrouble: number;
  readonly goodputInTrouble: number;
  readonly goodputAfter: number;
  readonly recoveredAfterMs: number | null;
  readonly drainedAfterMs: number | null;
  readonly quarantined: number;
  readonly callsPerSuccess: number | null;
}

export function summaryOf({ name, says }: Arm, runs: readonly SimulationRun[]): Summary {
  const of = (value: (run: SimulationRun) => number) => median(runs.map(value));
  const reached = (value: (run: SimulationRun) => number | undefined) => {
    const middle = of((run) => value(run) ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(middle) ? Math.round(middle) : null;
  };
  const perSuccess = of(({ calls, done }) => calls / done);
  return {
    arm: name,
    says,
    seeds: runs.length,
    callsInTrouble: Math.round(of((run) => run.callsInTrouble)),
    goodputInTrouble: rounded(of((run) => run.goodputInTrouble)),
    goodputAfter: rounded(of((run) => run.goodputAfter)),
    recoveredAfterMs: reached((run) => run.recoveredAfterMs),
    drainedAfterMs: reached((run) => run.drainedAfterMs),
    quarantined: Math.round(of((run) => run.quarantined)),
    callsPerSuccess: Number.isFinite(perSuccess) ? Math.round(perSuccess * 100) / 100 : null,
  };
}

/** Of one row of numbers over all seeds, step by step. */
export interface Band {
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

export type NumberRow = 'goodput' | 'calls' | 'limit' | 'backlog' | 'ageMs' | 'quarantined';

/** Median, and from 5 % to 95 %. */
export function bandOf(all: readonly SimulationSeries[], row: NumberRow): Band {
  const steps = Math.min(...all.map((series) => series[row].length));
  const at = (step: number) => all.map((series) => series[row][step]!).sort((a, b) => a - b);
  const sorted = Array.from({ length: steps }, (_, step) => at(step));
  const line = (share: number) => sorted.map((values) => quantile(values, share));
  return { low: line(0.05), middle: line(0.5), high: line(0.95) };
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** Of sorted values, between two of them in proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  // n.b. between two infinities lies one.
  return below === above ? below : below + (above - below) * (place - Math.floor(place));
}

function rounded(perSecond: number): number {
  return Math.round(perSecond * 10) / 10;
}
