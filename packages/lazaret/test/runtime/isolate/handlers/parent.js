import { consumerPolicy } from '../../../../dist/core/options.js';
import { isolated } from '../../../../dist/runtime/isolate/pool.js';
import { Run } from '../../../../dist/runtime/run.js';
import { realSystem } from '../../../../dist/system.js';

/** A process whose children are all lost in a loop. Says so, and waits to be killed. */

const size = 2;
const handler = new URL('./looper.js', import.meta.url);
const pool = isolated(handler, 'process', consumerPolicy({ concurrency: size }), () => undefined, realSystem);
for (let at = 0; at < size; at++) {
  const delivery = {
    message: { body: null, headers: [] },
    source: { queue: 'orders' },
    receipt: undefined,
    attempt: 1,
    firstSeenAt: 0,
  };
  pool.perform(new Run(delivery, realSystem.monotonic()), { prolong: async () => true });
}
