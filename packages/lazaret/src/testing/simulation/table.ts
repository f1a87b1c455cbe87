import type { SimulationRun } from './contract.ts';

/** All runs of one way to retry in one situation. */
export interface Row {
  readonly cell: string;
  readonly arm: string;
  readonly troubleMs: number;
  readonly runs: readonly Facts[];
  /** Runs of a handler that came to an end in a second of one core. */
  readonly outcomesPerSecond: number;
}

export type Facts = Omit<SimulationRun, 'series' | 'setup' | 'events'> & {
  readonly seed: number;
  /** Waiting at the end. */
  readonly left: number;
  /** From the beginning of the trouble until the queue paused itself. */
  readonly pausedAfterMs: number | undefined;
};

const HEADS: readonly string[] = [
  'way to retry',
  'seeds',
  'calls in it',
  'goodput in it',
  'goodput after',
  '90 % again after',
  'drained after',
  'peak load after',
  'healthy quarantined',
  'poison quarantined',
  'paused after',
  'left',
];

/** One table for each situation: the median of each figure and, where seeds differ, the least and the most. */
export function renderRows(rows: readonly Row[]): string {
  const cells = [...new Set(rows.map(({ cell }) => cell))];
  return cells
    .map((cell) =>
      renderCell(
        cell,
        rows.filter((row) => row.cell === cell),
      ),
    )
    .join('\n');
}

function renderCell(cell: string, rows: readonly Row[]): string {
  const lines = rows.map((row) => `| ${[row.arm, String(row.runs.length), ...figures(row.runs)].join(' | ')} |`);
  const minutes = rows[0]!.troubleMs / 60_000;
  const rule = `|${HEADS.map(() => ' --- |').join('')}`;
  return [`## ${cell}, for ${minutes} minutes`, '', `| ${HEADS.join(' | ')} |`, rule, ...lines, ''].join('\n');
}

function figures(runs: readonly Facts[]): readonly string[] {
  return [
    spread(runs, ({ callsInTrouble }) => callsInTrouble, count),
    spread(runs, ({ goodputInTrouble }) => goodputInTrouble, rate),
    spread(runs, ({ goodputAfter }) => goodputAfter, rate),
    spread(runs, ({ recoveredAfterMs }) => recoveredAfterMs ?? Number.POSITIVE_INFINITY, seconds),
    spread(runs, ({ drainedAfterMs }) => drainedAfterMs ?? Number.POSITIVE_INFINITY, seconds),
    spread(runs, ({ peakLoadAfter }) => peakLoadAfter, percent),
    spread(runs, ({ quarantined }) => quarantined, count),
    spread(runs, ({ poisonQuarantined, poisonSent }) => poisonQuarantined / poisonSent, percent),
    spread(runs, ({ pausedAfterMs }) => pausedAfterMs ?? Number.POSITIVE_INFINITY, seconds),
    spread(runs, ({ left }) => left, count),
  ];
}

function spread(runs: readonly Facts[], of: (run: Facts) => number, text: (value: number) => string): string {
  const values = runs.map(of).sort((a, b) => a - b);
  const [least, median, most] = [values[0]!, values[Math.floor(values.length / 2)]!, values.at(-1)!].map(text);
  return least === most ? median! : `${median} (${least} to ${most})`;
}

const count = (value: number) => value.toLocaleString('en-US');
const rate = (value: number) => `${value.toFixed(1)}/s`;
const seconds = (value: number) => (Number.isFinite(value) ? `${value / 1_000} s` : 'never');
/** Nothing of nothing is no share. */
const percent = (value: number) => (Number.isNaN(value) ? '–' : `${(100 * value).toFixed(1)} %`);
