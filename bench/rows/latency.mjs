import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf, numberOf } from '../bodies.mjs';
import { ratio } from '../goals.mjs';
import { quantile } from '../statistics.mjs';

const PER_SECOND = 500;
const WARM_UP = 1_000;

/** From the call of publish to the call of the handler, at a steady rate far below what anybody can do. */
export const latency = {
  number: '9',
  title: 'Latency at 500 msg/s, c = 10, publisher in the same process',
  minRounds: 1,
  contestants: [
    { as: 'raw', contender: 'raw', durable: true },
    { as: 'raw, not durable', contender: 'raw' },
    { as: 'lazaret', contender: 'lazaret' },
    { as: 'plainjob', contender: 'plainjob' },
  ],
  async measure(contender, { scale }) {
    const count = WARM_UP + 5_000 * scale;
    const sentAt = new Float64Array(count);
    const tookMs = [];
    const stop = await contender.consume(
      { concurrency: 10 },
      async (body) => {
        const number = numberOf(body);
        if (number >= WARM_UP) tookMs.push(performance.now() - sentAt[number]);
      },
      () => {},
    );
    await atSteadyRate(count, async (number) => {
      sentAt[number] = performance.now();
      await contender.publish([bodyOf(number)]);
    });
    while (tookMs.length < count - WARM_UP) await sleep(10);
    await stop();
    return { p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99) };
  },
  goals: () => [
    ratio('p50', 'lazaret', 'raw', { atMost: 1.5 }),
    ratio('p99', 'lazaret', 'raw', { atMost: 2 }),
    ratio('p50', 'lazaret', 'raw, not durable'),
    ratio('p99', 'lazaret', 'raw, not durable'),
    ratio('p50', 'plainjob', 'lazaret', { atLeast: 1000 }),
  ],
};

/** Whoever is late catches up: the rate is offered, not what the queue can take. */
async function atSteadyRate(count, publish) {
  const start = performance.now();
  const pending = [];
  for (let number = 0; number < count; number++) {
    const waitMs = start + (number * 1000) / PER_SECOND - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    pending.push(publish(number));
  }
  await Promise.all(pending);
}
