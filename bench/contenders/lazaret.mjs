import { sqlite } from '../../packages/lazaret/dist/drivers/sqlite/index.js';
import { lazaret } from '../../packages/lazaret/dist/index.js';
import { openDatabase } from '../bindings.mjs';

const QUEUE = 'bench';

/** Lazaret as it comes: retries, leases, heartbeats, deadlines and evidence are on, and somebody listens to its events. */
export async function open({ binding, file }) {
  // Handed in, since the packages of the bindings are installed here and not beside the library.
  const database = await openDatabase(binding, file);
  const app = lazaret({ broker: sqlite({ database }), logger: false });

  return {
    async publish(bodies, { delayMs } = {}) {
      const options = delayMs === undefined ? undefined : { delay: `${delayMs}ms` };
      await Promise.all(bodies.map((body) => app.send(QUEUE, body, options)));
    },

    async consume({ concurrency, maxAttempts, retryDelayMs }, handle, ended) {
      const failures = {
        ...(maxAttempts === undefined ? {} : { maxAttempts }),
        ...(retryDelayMs === undefined ? {} : { backoff: [`${retryDelayMs}ms`], jitter: 'none' }),
      };
      app.on('done', () => ended(1));
      app.on('quarantined', () => ended(1));
      app.on('trouble', ({ error }) => console.error(error));
      app.consume(QUEUE, { concurrency, ...failures }, (message) => handle(message.body));
      await app.start();
      return () => app.stop();
    },

    async close() {
      await app.stop();
      database.close();
    },
  };
}
