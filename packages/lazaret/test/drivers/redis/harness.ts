import { openRedis, type RedisBroker } from '../../../src/drivers/redis/index.ts';
import type { Broker } from '../../../src/ports/broker.ts';
import { realSystem } from '../../../src/system.ts';
import type { Harness } from '../../../src/testing/index.ts';
import { type Detour, detourTo, through } from '../detour.ts';
import { mortal } from '../mortal.ts';
import { deleteQueues, freshQueue } from './server.ts';

const LEASE_MS = 400;

interface Client {
  readonly detour: Detour;
  readonly life: { isOver: boolean };
}

/** A client of its own detour each: it is killed by closing its way to the server, and its timers. */
export async function redisHarness(url: string, own: RedisBroker): Promise<Harness> {
  const clients = new Map<Broker, Client>();
  const made: string[] = [];
  return {
    system: realSystem,
    leaseMs: LEASE_MS,
    dedupeWindowMs: 300,
    native: { driver: 'elsewhere', version: 1, bytes: new Uint8Array([0, 255, 7]) },
    async broker() {
      const detour = await detourTo(url);
      const life = { isOver: false };
      const system = mortal(realSystem, life);
      const broker = await openRedis({ url: through(detour, url), system, dedupeWindow: '300ms' });
      clients.set(broker, { detour, life });
      return broker;
    },
    async kill(broker) {
      const { detour, life } = clients.get(broker)!;
      life.isOver = true;
      await detour.block();
    },
    pass: (ms) => new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve))),
    async queue() {
      const name = freshQueue();
      made.push(name);
      await (await own.provision(name, {})).apply();
      return name;
    },
    letters: async (queue) => (await own.letters(queue, undefined, 1_000)).items,
    async close() {
      for (const broker of clients.keys()) await broker.close();
      for (const { detour } of clients.values()) await detour.block();
      await deleteQueues(url, made);
    },
  };
}
