import type { MemoryOptions } from '../../src/drivers/memory/index.ts';
import { memoryServer } from '../../src/drivers/memory/index.ts';
import type { App, EventName, Events } from '../../src/index.ts';
import { lazaret } from '../../src/index.ts';
import type { Broker, StoreDriver } from '../../src/ports/index.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

export const SHAPES = ['table', 'channel', 'log'] as const;

/** One server under the manual clock, and apps on it as separate processes. */
export function scene(options: MemoryOptions = { shape: 'table' }, store?: StoreDriver) {
  const system = new ManualSystem();
  const server = memoryServer({ ...options, system });
  const heard: { name: EventName; at: number; event: Events[EventName] }[] = [];
  const startedAt = system.now();

  return {
    system,
    server,
    heard,
    /** An app in a process of its own; `kill` ends it without a word. */
    process(wait = '5s', wrap: (broker: Broker) => Broker = (broker) => broker) {
      const broker = server.connect();
      let lives = true;
      const own = store && mortal(store, () => lives);
      const app: App = lazaret({
        broker: { name: 'memory', connect: async () => wrap(broker) },
        ...(own === undefined ? {} : { store: own }),
        logger: false,
        system,
        wait,
      });
      for (const name of EVENTS)
        app.on(name, (event) => lives && heard.push({ name, at: system.now() - startedAt, event }));
      const kill = () => {
        lives = false;
        server.kill(broker);
      };
      return { app, broker, kill, cut: () => server.cut(broker) };
    },
    /** Milliseconds since the scene began. */
    now: () => system.now() - startedAt,
    of<E extends EventName>(name: E): Events[E][] {
      return heard.filter((one) => one.name === name).map((one) => one.event as Events[E]);
    },
    /** Starts without waiting for real time: a connect or a subscribe may take turns of the manual clock. */
    async run<T>(work: Promise<T>, ms = 0): Promise<T> {
      await system.advance(ms);
      return work;
    },
  };
}

/** The store as a process sees it that may die: nothing is heard of it afterwards, and it hears nothing. */
function mortal(driver: StoreDriver, lives: () => boolean): StoreDriver {
  const alive = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (!lives()) return new Promise(() => {});
    const answer = await ask();
    return lives() ? answer : new Promise(() => {});
  };
  return {
    name: driver.name,
    async connect(system) {
      const store = await driver.connect(system);
      return over(store, {
        journal(owner, group) {
          const journal = store.journal(owner, group);
          return {
            begin: (starts) => alive(() => journal.begin(starts)),
            end: (ends) => alive(() => journal.end(ends)),
            alive: (living, leaseMs) => alive(() => journal.alive(living, leaseMs)),
          };
        },
      });
    },
  };
}

const EVENTS: readonly EventName[] = [
  'done',
  'retrying',
  'released',
  'quarantined',
  'lease-lost',
  'abandoned',
  'unaccounted-deliveries',
  'suspects',
  'running-alone',
  'trouble',
  'stopped',
  'breaker',
  'paused',
  'resumed',
  'limited',
  'fused',
  'fuse-cleared',
  'systemic',
  'systemic-cleared',
];

export class Deferred<T = void> {
  resolve!: (value: T) => void;
  reject!: (reason: unknown) => void;
  readonly promise: Promise<T> = new Promise((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** `target` with some of its methods changed. */
export function over<T extends object>(target: T, change: Partial<T>): T {
  return new Proxy(target, {
    get(own, name) {
      const value = Reflect.get(name in change ? change : own, name) as unknown;
      return typeof value === 'function' && !(name in change) ? value.bind(own) : value;
    },
  });
}
