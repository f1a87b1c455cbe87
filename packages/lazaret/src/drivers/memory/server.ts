import { LazaretError } from '../../core/errors.ts';
import { type Letter, letterOf } from '../../core/letter.ts';
import type { Broker, Driver } from '../../ports/broker.ts';
import { MemoryBroker } from './broker.ts';
import { channelShape } from './channel.ts';
import { Client } from './client.ts';
import { Dedupe } from './dedupe.ts';
import { type Fault, FaultScript, type Verb } from './faults.ts';
import { logShape } from './log.ts';
import { DEDUPE_WINDOW_MS, type MemoryServerOptions, RECONNECT_MS } from './options.ts';
import { Registry } from './registry.ts';
import { serverClock } from './server-clock.ts';
import type { Shape, World } from './shape.ts';
import { SharedEntries } from './shared-state.ts';
import { newStats, type Stats } from './stats.ts';
import { tableShape } from './table.ts';

/** A broker that several simulated processes share, and that does what a test tells it to. */
export interface MemoryServer {
  /** A fresh client, as another process. */
  connect(): Broker;
  /** For apps: each start is a fresh client of this server. */
  readonly driver: Driver;
  /** The client's process dies without a word: none of its calls is ever answered. */
  kill(broker: Broker): void;
  /** The client's connection is cut. It hears what it lost, and comes back by itself. */
  cut(broker: Broker): void;
  /** The next `times` (default 1) entries of `verb` meet `fault`; faults of one verb queue up. */
  fail(verb: Verb, fault: Fault, times?: number): void;
  /** Dead letters of `queue`, oldest first, without taking them. */
  letters(queue: string): readonly Letter[];
  /** Log: every partition of `queue` goes to the next member. Elsewhere nothing happens. */
  rebalance(queue: string): void;
  readonly stats: Stats;
}

export function memoryServer(options: MemoryServerOptions): MemoryServer {
  const { system } = options;
  const clock = serverClock(system);
  const world: World = { system, clock, faults: new FaultScript(), stats: newStats() };
  const shape = shapeOf(world, options);
  const registry = new Registry(options.declare ?? 'automatic');
  const dedupe = new Dedupe(clock, options.dedupeWindowMs ?? DEDUPE_WINDOW_MS);
  const entries = new SharedEntries(clock);
  const clients = new WeakMap<Broker, Client>();

  const connect = (): Broker => {
    const client = new Client(system, options.reconnectMs ?? RECONNECT_MS);
    const broker = new MemoryBroker({ world, client, shape, registry, dedupe, entries });
    clients.set(broker, client);
    return broker;
  };

  const clientOf = (broker: Broker): Client => {
    const client = clients.get(broker);
    if (client !== undefined) return client;
    throw new LazaretError('LZ1054', 'This broker is not a client of this server.', {
      hint: 'Pass what connect() gave.',
    });
  };

  return {
    connect,
    driver: { name: 'memory', connect: async () => connect() },
    kill: (broker) => clientOf(broker).kill(),
    cut: (broker) => clientOf(broker).cut(),
    fail: (verb, fault, times = 1) => world.faults.add(verb, fault, times),
    letters: (queue) =>
      [...registry.letterQueues(queue)].flatMap((name) =>
        [...shape.browse(name)].map(({ message }) => letterOf(message)),
      ),
    rebalance: (queue) => shape.rebalance?.(queue),
    stats: world.stats,
  };
}

function shapeOf(world: World, options: MemoryServerOptions): Shape {
  switch (options.shape) {
    case 'channel':
      return channelShape(world, options);
    case 'log':
      return logShape(world, options);
    default:
      return tableShape(world, options);
  }
}
