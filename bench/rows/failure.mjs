import { fill, numberOf } from '../bodies.mjs';
import { drain, reading } from '../drain.mjs';
import { ratio } from '../goals.mjs';

const DELAY_MS = 1_000;
const CONCURRENCY = 100;
const RETRIED = 200_000;
const RAW_DURABLE = { as: 'raw', contender: 'raw', durable: true };
const RAW = { as: 'raw, not durable', contender: 'raw' };
const LAZARET = { as: 'lazaret', contender: 'lazaret' };
const PLAINJOB = { as: 'plainjob', contender: 'plainjob' };

/** Every message throws once, waits a second, succeeds. The second is taken off. */
export const retry = {
  number: '10',
  title: 'Retry: fail once, wait 1 s, succeed, c = 100',
  minRounds: 1,
  contestants: [RAW_DURABLE, RAW, LAZARET],
  prepare: (contender, { scale }) => fill(contender, RETRIED * scale),
  async measure(contender, { scale }) {
    const count = RETRIED * scale;
    const failed = new Uint8Array(count);
    const from = reading();
    await drain(contender, { warmUp: 0, count, concurrency: CONCURRENCY, retryDelayMs: DELAY_MS }, async (body) => {
      if (failed[numberOf(body)]++ === 0) throw new Error('the payment service is away');
    });
    const to = reading();
    return { rate: (count / (to.ms - from.ms - DELAY_MS)) * 1000, cpuUs: (to.cpuUs - from.cpuUs) / count };
  },
  goals: () => [
    ratio('rate', 'lazaret', 'raw', { atLeast: 0.6, gate: 0.5 }),
    ratio('rate', 'lazaret', 'raw, not durable'),
  ],
};

/** Every message throws on its only attempt, and lies with its error, stack and attempts where dead letters lie. */
export const deadLetter = {
  number: '11',
  title: 'Dead-letter with evidence, c = 100',
  minRounds: 1,
  contestants: [RAW_DURABLE, RAW, LAZARET, PLAINJOB],
  prepare: (contender, setup) => fill(contender, lettersOf(setup) * 2),
  measure(contender, setup) {
    const count = lettersOf(setup);
    const options = { warmUp: count, count, concurrency: CONCURRENCY, maxAttempts: 1 };
    return drain(contender, options, async (body) => {
      throw new Error(`order ${numberOf(body)} has no customer`);
    });
  },
  goals: () => [
    ratio('rate', 'lazaret', 'raw', { atLeast: 0.6, gate: 0.5 }),
    ratio('rate', 'lazaret', 'raw, not durable'),
    ratio('rate', 'lazaret', 'plainjob', { atLeast: 5 }),
  ],
};

function lettersOf({ contender, scale }) {
  return (contender === 'plainjob' ? 10_000 : 50_000) * scale;
}
