import { fill } from '../bodies.mjs';
import { drain } from '../drain.mjs';
import { difference, ratio } from '../goals.mjs';

/** Consume and ack, no-op handler. */
function row(number, title, concurrency, { goals, contenders = ['raw', 'lazaret', 'plainjob'], minRounds = 1 }) {
  const sizeOf = ({ contender, scale }) => {
    // A peer that settles one by one needs fewer messages for the same time.
    const count = contender === 'plainjob' ? 20_000 : concurrency === 1 ? 60_000 : 200_000;
    // So long, until the code is compiled: a service runs for weeks.
    return { warmUp: (count / 2) * scale, count: count * scale };
  };
  return {
    number,
    title,
    minRounds,
    contestants: contenders.map((contender) => ({ as: contender, contender })),
    async prepare(contender, setup) {
      const { warmUp, count } = sizeOf(setup);
      await fill(contender, warmUp + count);
    },
    measure: (contender, setup) => drain(contender, { ...sizeOf(setup), concurrency }, async () => {}),
    goals,
  };
}

const GATE = { gate: 0.5 };

export const addedCpu = row('1', 'CPU added per message, c = 100', 100, {
  contenders: ['raw', 'lazaret'],
  minRounds: 15,
  goals: () => [difference('cpuUs', 'lazaret', 'raw', 'us', { atMost: 1.5, byInterval: true })],
});

export const hundred = row('2', 'Consume and ack, c = 100', 100, {
  goals: (binding) => [
    ratio('rate', 'lazaret', 'raw', { atLeast: 0.6, ...GATE }),
    ratio('rate', 'lazaret', 'plainjob', { atLeast: binding === '@photostructure/sqlite' ? 6 : 10 }),
  ],
});

export const ten = row('2b', 'Consume and ack, c = 10', 10, {
  goals: () => [ratio('rate', 'lazaret', 'raw', GATE), ratio('rate', 'lazaret', 'plainjob')],
});

export const one = row('3', 'Consume and ack, strictly one at a time', 1, {
  goals: () => [ratio('rate', 'lazaret', 'raw', GATE), ratio('rate', 'lazaret', 'plainjob', { atLeast: 2 })],
});
