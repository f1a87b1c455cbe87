import { fill } from '../bodies.mjs';
import { reading } from '../drain.mjs';
import { ratio } from '../goals.mjs';

/** A thousand at a time. */
export const publish = {
  number: '16',
  title: 'Publish, 1000 in flight',
  minRounds: 1,
  contestants: [
    { as: 'raw', contender: 'raw', durable: true },
    { as: 'raw, not durable', contender: 'raw' },
    { as: 'lazaret', contender: 'lazaret' },
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
    ratio('rate', 'lazaret', 'raw, not durable'),
    ratio('rate', 'lazaret', 'plainjob', { atLeast: 0.9 }),
  ],
};
