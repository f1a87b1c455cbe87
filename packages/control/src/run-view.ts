import { EXIT } from './cli/exit-code.ts';
import type { Cell, View } from './cli/view.ts';
import type { RunSummary } from './run/tally.ts';

/** What a run is asked to say besides its numbers. */
export interface RunReport extends RunSummary {
  /** The file that the letters stay in; absent where it was a temporary one. */
  readonly db?: string;
  readonly interrupted: boolean;
}

export function runView(failOnQuarantine: boolean): View<RunReport> {
  return {
    document: 'run@1',
    show: (report) => ({
      parts: [
        { kind: 'fields', fields: counts(report) },
        {
          kind: 'table',
          columns: [
            { title: 'QUARANTINED', align: 'right' },
            { title: 'REASON', style: 'bad' },
            { title: 'CAUSE', style: 'faint' },
            { title: 'EXAMPLE' },
            { title: 'WHY', wide: true },
          ],
          rows: report.causes.map(({ count, reason, fingerprint, example, why }) => [
            count,
            reason,
            fingerprint,
            example,
            why,
          ]),
        },
      ],
      notes: notes(report),
      ...(report.db !== undefined && report.open > 0
        ? { next: ['lazaret', 'messages', 'ls', '--queue', report.queue] }
        : {}),
    }),
    exitCode(report) {
      if (report.interrupted) return EXIT.interrupted;
      if (!report.accounted) return EXIT.failed;
      return failOnQuarantine && (report.quarantined > 0 || report.open > 0) ? EXIT.partly : EXIT.ok;
    },
  };
}

function counts(report: RunReport): readonly (readonly [string, Cell])[] {
  const { lines, empty, done, skipped, retried, quarantined, known, waiting, unsent, others, ms } = report;
  const always: readonly (readonly [string, Cell])[] = [
    ['lines', aside(lines, empty === 0 ? '' : `${empty} empty left out`)],
    ['done', aside(done, skipped === 0 ? '' : `${skipped} skipped by the handler`)],
    ['retried', aside(retried, retried === 0 ? '' : 'failed at least once and ran again')],
    ['quarantined', quarantined],
  ];
  const sometimes: readonly (readonly [string, number, string])[] = [
    ['known', known, 'sent by an earlier run into this file, so not run again'],
    ['waiting', waiting, 'still in the queue'],
    ['unsent', unsent, 'read, but not taken'],
    ['others', others, 'messages of the queue that came from elsewhere'],
  ];
  return [
    ...always,
    ...sometimes.filter(([, count]) => count > 0).map(([name, count, why]) => [name, aside(count, why)] as const),
    ['took', { people: `${(ms / 1000).toFixed(1)} s (${rate(lines, ms)} lines/s)`, exact: String(ms) }],
  ];
}

function aside(count: number, remark: string): Cell {
  return { people: remark === '' ? String(count) : `${count} (${remark})`, exact: String(count) };
}

function rate(lines: number, ms: number): number {
  return Math.round((1000 * lines) / Math.max(1, ms));
}

function notes(report: RunReport): readonly string[] {
  const { accounted, lines, db, quarantined, known, open, interrupted } = report;
  return [
    ...(accounted ? [`Accounted for: ${lines} of ${lines} lines.`] : []),
    ...(interrupted ? [whereItStopped(report)] : []),
    ...(quarantined > 0 && db === undefined ? ['The letters were in a temporary file: give --db to keep them.'] : []),
    ...(known > 0 && open > 0 ? ["Known lines that are quarantined run again with 'lazaret messages release'."] : []),
  ];
}

function whereItStopped({ waiting, db }: RunReport): string {
  if (waiting === 0) return 'Stopped early.';
  return db === undefined
    ? 'Stopped early: the lines that waited are gone with the temporary file.'
    : `Stopped early: the lines that wait stay in ${db}; run it again to go on.`;
}
