import type { Cell, View } from './cli/view.ts';
import { after, counted } from './simulate/sentences.ts';
import type { Spread, Summary } from './simulate/summary.ts';

/** What the command answers; also its JSON document. */
export interface Simulated {
  readonly scenario: string;
  /** What was simulated. */
  readonly premise: string;
  readonly headline: string;
  readonly arms: readonly Summary[];
  /** What the doctor says of your policy, or of the defaults. */
  readonly findings: readonly Finding[];
}

interface Finding {
  readonly rule: string;
  readonly finding: string;
  readonly why: string;
  readonly todo: string;
}

export const simulateView: View<Simulated> = {
  document: 'simulation@1',
  show: ({ premise, headline, arms, findings }) => ({
    parts: [
      {
        kind: 'table',
        columns: [
          { title: 'POLICY', style: 'strong' },
          { title: 'SEEDS', align: 'right' },
          { title: 'CALLS', align: 'right' },
          { title: 'DONE/S', align: 'right' },
          { title: 'AFTER', align: 'right' },
          { title: '90 % AFTER', align: 'right' },
          { title: 'CAUGHT UP', align: 'right' },
          { title: 'QUARANTINED', align: 'right' },
          { title: 'CALLS/DONE', align: 'right' },
        ],
        rows: arms.map((arm) => [
          arm.arm,
          arm.seeds,
          count(arm.callsInTrouble),
          figure(arm.goodputInTrouble),
          figure(arm.goodputAfter),
          time(arm.recoveredAfterMs),
          time(arm.drainedAfterMs),
          count(arm.quarantined),
          figure(arm.callsPerSuccess),
        ]),
      },
    ],
    notes: [
      premise,
      'CALLS and DONE/S: while it lasts; all else since it ended. QUARANTINED: healthy messages.',
      headline,
      ...findings.map(({ finding, todo }) => `Doctor: ${finding} ${todo}`),
    ],
  }),
};

function count({ median }: Spread): Cell {
  return median === null ? NEVER : { people: counted(median), exact: String(median) };
}

function figure({ median }: Spread): Cell {
  return median ?? NEVER;
}

function time({ median }: Spread): Cell {
  return { people: after(median), exact: String(median ?? '') };
}

const NEVER: Cell = { people: '-', exact: '' };
