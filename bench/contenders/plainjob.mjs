import { better, defineQueue, defineWorker } from 'plainjob';
import { openDatabase } from '../bindings.mjs';

const TYPE = 'bench';
const SILENCE = { error() {}, warn() {}, info() {}, debug() {} };

/** The peer on SQLite. It speaks better-sqlite3 only, has no retries, and gets its concurrency from so many workers. */
export async function open({ file }) {
  const connection = better(await openDatabase('better-sqlite3', file));
  const queue = defineQueue({ connection, logger: SILENCE, serializer: (text) => text });

  return {
    async publish(bodies) {
      queue.addMany(
        TYPE,
        bodies.map((body) => body.toString('latin1')),
      );
    },

    async consume({ concurrency }, handle, ended) {
      const one = () => ended(1);
      const workers = Array.from({ length: concurrency }, () =>
        defineWorker(TYPE, (job) => handle(job.data), { queue, logger: SILENCE, onCompleted: one, onFailed: one }),
      );
      const running = workers.map((worker) => worker.start());
      return async () => {
        await Promise.all(workers.map((worker) => worker.stop()));
        await Promise.all(running);
      };
    },

    async close() {
      queue.close();
    },
  };
}
