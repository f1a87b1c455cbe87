import { sqlite } from '../../packages/lazaret/dist/drivers/sqlite/index.js';
import { realSystem } from '../../packages/lazaret/dist/index.js';
import { openDatabase } from '../bindings.mjs';

/** Publishes as tools do that have many messages at hand: the driver's own publish, without an app in front of it. */
export async function open({ binding, file }) {
  const database = await openDatabase(binding, file);
  const broker = await sqlite({ database }).connect(realSystem);

  return {
    async publish(bodies) {
      const results = await broker.publish(
        'bench',
        bodies.map((body) => ({ id: realSystem.id(), body })),
      );
      const refused = results.find((result) => result !== 'done');
      if (refused !== undefined) throw new Error('a message was not stored', { cause: refused });
    },

    async close() {
      await broker.close();
      database.close();
    },
  };
}
