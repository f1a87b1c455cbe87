import type { PlantedFault } from '../planted-faults.ts';
import { bound } from './planting.ts';

/** What can go wrong when looking at a queue, or making one. */
export const LOOKING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'what cannot be known is said to be zero',
    shape: 'channel',
    caughtBy: ['counts what is ready, and in whose hands the rest is'],
    plant: (broker) => ({
      ...bound(broker),
      inspect: async (queue) => ({ leased: 0, ...(await broker.inspect(queue)) }),
    }),
  },
  {
    name: 'browsing takes a message',
    shape: 'table',
    caughtBy: ['neither takes nor counts what it browses'],
    plant: (broker) => ({
      ...bound(broker),
      async browse(queue, from, max) {
        const page = await broker.browse!(queue, from, max);
        const options = {
          prefetch: 1,
          leaseMs: 1,
          waitMs: 0,
          order: 'none',
          maxAttempts: 4,
          lost() {},
          suspects() {},
        } as const;
        const subscription = await broker.subscribe(queue, options);
        await subscription.pull(1, new AbortController().signal);
        return page;
      },
    }),
  },
  {
    name: 'delayed and dead messages are counted as ready',
    shape: 'table',
    caughtBy: ['counts what is delayed', 'counts what is dead'],
    plant: (broker) => ({
      ...bound(broker),
      async inspect(queue) {
        const { ready = 0, delayed = 0, dead = 0, ...facts } = await broker.inspect(queue);
        return { ...facts, ready: ready + delayed + dead, delayed: 0, dead: 0 };
      },
    }),
  },
  {
    name: 'an empty queue has an oldest message',
    shape: 'table',
    caughtBy: ['knows how old the oldest message is that is ready, or says nothing'],
    plant: (broker, system) => ({
      ...bound(broker),
      inspect: async (queue) => ({ oldestAt: system.now(), ...(await broker.inspect(queue)) }),
    }),
  },
  {
    name: 'a page begins where the one before it ended',
    shape: 'log',
    caughtBy: ['browses page by page, the oldest first'],
    plant: (broker) => ({
      ...bound(broker),
      browse: (queue, from, max) =>
        broker.browse!(queue, from === undefined ? undefined : String(Number(from) - 1), max),
    }),
  },
  {
    name: 'a plan is never empty',
    shape: 'channel',
    caughtBy: ['has nothing left to provision the second time'],
    plant: (broker) => ({
      ...bound(broker),
      async provision(queue, wanted) {
        const { steps, apply } = await broker.provision(queue, wanted);
        return { steps: [...steps, { action: 'change', what: queue, why: 'it could be another' }], apply };
      },
    }),
  },
  {
    name: 'a publisher is promised something else than a consumer',
    shape: 'log',
    caughtBy: ['promises a publisher what it promises a consumer'],
    plant: (broker) => ({
      ...bound(broker),
      capabilities: async (queue) => ({ ...(await broker.capabilities(queue)), delayGrainMs: 1_000 }),
    }),
  },
];
