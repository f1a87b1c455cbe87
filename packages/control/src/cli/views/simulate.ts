import { formatDuration } from 'lazaret/core';
import { counted } from '../../simulate/sentences.ts';
import type { Simulated } from '../../simulate-command.ts';
import type { Cell, View } from '../view.ts';

export const simulationView: View<Simulated> = {
  document: 'simulation@1',
  show: ({ premise, arms, sentences, findings, report }) => ({
    parts: [
      {
        kind: 'table',
        columns: [
          { title: 'WAY', style: 'strong' },
          { title: 'CALLS', align: 'right' },
          { title: 'DONE/S', align: 'right' },
          { title: 'AFTER', align: 'right' },
          { title: '>=90% AFTER', align: 'right' },
          { title: 'CAUGHT UP', align: 'right' },
          { title: 'QUARANTINED', align: 'right' },
          { title: 'CALLS/DONE', align: 'right' },
        ],
        rows: arms.map((arm) => [
          arm.arm,
          number(arm.callsInTrouble),
          arm.goodputInTrouble,
          arm.goodputAfter,
          time(arm.recoveredAfterMs),
          time(arm.drainedAfterMs),
          number(arm.quarantined),
          arm.callsPerSuccess ?? { people: '-', exact: '' },
        ]),
      },
    ],
    notes: [
      premise,
      'CALLS and DONE/S while it lasts, AFTER done per second after it; medians. QUARANTINED: healthy messages.',
      ...sentences,
      ...findings.flatMap(({ finding, todo }) => [`doctor: ${finding} ${todo}`]),
      ...(report === undefined ? [] : [`The report is in ${report}.`]),
    ],
    ...(report === undefined ? { next: ['lazaret', 'simulate', '--out', 'report.html'] } : {}),
  }),
};

function number(count: number): Cell {
  return { people: counted(count), exact: String(count) };
}

function time(ms: number | null): Cell {
  return ms === null ? { people: 'never', exact: '' } : { people: formatDuration(ms), exact: String(ms) };
}
