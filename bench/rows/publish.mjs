import { fill } from '../bodies.mjs';
import { reading } from '../drain.mjs';
import { ratio } from '../goals.mjs';

/** A thousand at a time: as so many sends in flight, or where somebody can in one call. */
export const publish = {
  number: '16',
  title: 'Publish, 1000 at a time',
  minRounds: 1,
  contestants: [
    { as: 'raw', contender: 'raw', durable: true },
    { as: 'raw, not durable', contender: 'raw' },
    { as: 'lazaret', contender: 'lazaret' },
    { as: 'lazaret, in bulk', contender: 'lazaret-bulk' },
    { as: 'plainjob', contender: 'plainjob' },
  ],
  async measure(contender, { scale }) {
    const count = 200_000 * scale;
    await fill(contender, 20_000);
    const from = reading();
    await fill(contender, count);
    const to = reading();
    return { rate: (count / (to.ms - from.ms)) * 1000, cpuUs: (to.cpuUs - from.cpuUs) / count };
  },
  goals: () => [
    ratio('rate', 'lazaret', 'raw', { atLeast: 0.7, gate: 0.5 }),
    ratio('rate', 'lazaret, in bulk', 'raw', { atLeast: 0.7, gate: 0.5 }),
    ratio('rate', 'lazaret', 'raw, not durable'),
    ratio('rate', 'lazaret, in bulk', 'raw, not durable'),
    ratio('rate', 'lazaret', 'plainjob', { atLeast: 0.9 }),
    ratio('rate', 'lazaret, in bulk', 'plainjob', { atLeast: 0.9 }),
  ],
};
