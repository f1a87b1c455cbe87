import { test } from 'vitest';
import { openSqlite, type SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { Broker } from '../../src/ports/broker.ts';
import type { System } from '../../src/ports/system.ts';
import { conformance, type Harness } from '../../src/testing/index.ts';
import { Scene } from './sqlite-scene.ts';

await conformance({ name: 'sqlite', test, open: harness });

/** A file of its own for every case; each client is another connection to it. */
async function harness(): Promise<Harness> {
  const scene = new Scene();
  const clients = new Map<Broker, Client>();
  let queues = 0;

  const connect = async (): Promise<SqliteBroker> => {
    const life = { isOver: false };
    const broker = await openSqlite({ file: scene.file, system: mortal(scene.system, life) });
    clients.set(broker, { broker, life });
    return broker;
  };
  const own = await connect();

  return {
    system: scene.system,
    leaseMs: 1_000,
    dedupeWindowMs: 24 * 3_600_000,
    native: { driver: 'elsewhere', version: 1, bytes: new Uint8Array([0, 255, 7]) },
    broker: connect,
    async kill(broker) {
      clients.get(broker)!.life.isOver = true;
    },
    pass: (ms) => scene.system.advance(ms),
    async queue() {
      const name = `queue-${++queues}`;
      await (await own.provision(name, {})).apply();
      return name;
    },
    async letters(queue) {
      const { items } = await own.letters.list({ queue, max: 1_000 });
      return items;
    },
    async close() {
      for (const { broker } of clients.values()) await broker.close();
      await scene.end();
    },
  };
}

interface Client {
  readonly broker: SqliteBroker;
  readonly life: { isOver: boolean };
}

/** A System whose timers never fire once its process is dead. Its connection stays: it holds no lock between its calls. */
function mortal(system: System, life: { readonly isOver: boolean }): System {
  const unlessDead = (run: () => void) => () => {
    if (!life.isOver) run();
  };
  return {
    now: () => system.now(),
    monotonic: () => system.monotonic(),
    random: () => system.random(),
    id: () => system.id(),
    after: (ms, run) => system.after(ms, unlessDead(run)),
    turn: (run) => system.turn(unlessDead(run)),
    stayAlive: () => system.stayAlive(),
  };
}
