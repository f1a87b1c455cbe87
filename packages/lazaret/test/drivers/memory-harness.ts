import { type MemoryOptions, memoryServer } from '../../src/drivers/memory/index.ts';
import type { Broker } from '../../src/ports/broker.ts';
import type { System } from '../../src/ports/system.ts';
import type { Harness } from '../../src/testing/conformance/index.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

const LEASE_MS = 1_000;

/** A fresh server of the given shape, on a clock of its own. */
export async function memoryHarness(
  options: MemoryOptions,
  plant: (broker: Broker, system: System) => Broker = (broker) => broker,
): Promise<Harness> {
  const system = new ManualSystem();
  const server = memoryServer({ declare: 'required', ...options, system });
  const clients = new Map<Broker, Broker>();
  let queues = 0;

  const connect = (): Broker => {
    const client = server.connect();
    const planted = plant(client, system);
    clients.set(planted, client);
    return planted;
  };

  const harness: Harness = {
    system,
    leaseMs: LEASE_MS,
    dedupeWindowMs: 300_000,
    native: { driver: 'memory', version: 1, bytes: Uint8Array.of(0, 255, 128) },
    broker: async () => connect(),
    kill: async (broker) => server.kill(clients.get(broker)!),
    pass: (ms) => system.advance(ms),
    async queue({ retryDelaysMs }) {
      const queue = `queue-${++queues}`;
      const owner = server.connect();
      await (await owner.provision(queue, { retryDelaysMs })).apply();
      await owner.close();
      return queue;
    },
    letters: async (queue) => server.letters(queue),
    async close() {
      await system.advance(60_000);
      if (system.pending() > 0) throw new Error(`${system.pending()} timers are left after everything was closed`);
    },
  };
  const losesByCut = options.shape === 'channel' || options.shape === 'log';
  return losesByCut ? { ...harness, cut: async (broker) => server.cut(clients.get(broker)!) } : harness;
}
