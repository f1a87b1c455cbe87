import { fill } from '../bodies.mjs';
import { drain } from '../drain.mjs';
import { ratio } from '../goals.mjs';

const SMALL = 20_000;
const WARM_UP = 100_000;
const CONCURRENCY = 100;

/** What is behind a message must not make it slower. */
export const backlog = {
  number: '15',
  title: 'Drain rate by backlog, c = 100',
  minRounds: 1,
  contestants: [
    { as: 'raw at 20 k', contender: 'raw', backlog: SMALL },
    { as: 'raw at 1 M', contender: 'raw', backlog: 1_000_000 },
    { as: 'lazaret at 20 k', contender: 'lazaret', backlog: SMALL },
    { as: 'lazaret at 1 M', contender: 'lazaret', backlog: 1_000_000 },
  ],
  prepare: (contender, setup) => fill(contender, WARM_UP + sizeOf(setup)),
  measure: (contender) => drain(contender, { warmUp: WARM_UP, count: SMALL, concurrency: CONCURRENCY }, async () => {}),
  goals: () => [
    ratio('rate', 'lazaret at 1 M', 'lazaret at 20 k', { atLeast: 0.9 }),
    ratio('rate', 'raw at 1 M', 'raw at 20 k'),
  ],
};

function sizeOf({ backlog, scale }) {
  return Math.max(SMALL, backlog * scale);
}
