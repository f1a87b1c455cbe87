import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from '../bodies.mjs';
import { difference } from '../goals.mjs';

const HOUR_MS = 3_600_000;
const SETTLED_MS = 3_000;

/** Resident memory of a process that consumes, while nothing is due. */
export const memory = {
  number: '14',
  title: 'Resident memory, idle',
  minRounds: 1,
  contestants: [
    { as: 'raw, empty', contender: 'raw', later: 0 },
    { as: 'lazaret, empty', contender: 'lazaret', later: 0 },
    { as: 'lazaret, 1 M later', contender: 'lazaret', later: 1_000_000 },
  ],
  prepare: (contender, { later, scale }) => fill(contender, later * scale, { delayMs: HOUR_MS }),
  async measure(contender) {
    const stop = await contender.consume(
      { concurrency: 100 },
      async () => {},
      () => {},
    );
    await sleep(SETTLED_MS);
    globalThis.gc();
    const { rss } = process.memoryUsage();
    await stop();
    return { rssMb: rss / 1e6 };
  },
  goals: () => [
    difference('rssMb', 'lazaret, 1 M later', 'lazaret, empty', 'MB', { atMost: 20 }),
    difference('rssMb', 'lazaret, empty', 'raw, empty', 'MB', { atMost: 12 }),
  ],
};
