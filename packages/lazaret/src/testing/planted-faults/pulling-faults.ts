import type { Delivery } from '../../ports/broker.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { bound, changing, journalling, sleep, subscribing } from './planting.ts';

const unaborted = () => new AbortController().signal;

/** What can go wrong when asking for messages: how many, how long, whose, in which order. */
export const PULLING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a pull brings more than was asked for',
    shape: 'table',
    caughtBy: ['brings at most as many messages as it was asked for'],
    plant: changing((subscription) => ({ pull: (max, signal) => subscription.pull(max + 1, signal) })),
  },
  {
    name: 'a pull of an empty queue is never answered',
    shape: 'table',
    caughtBy: ['answers with an empty list when the queue stays empty'],
    plant: changing((subscription) => ({
      pull: async (max, signal) => {
        let pulled = await subscription.pull(max, signal);
        while (pulled.length === 0 && !signal.aborted) pulled = await subscription.pull(max, signal);
        return pulled;
      },
    })),
  },
  {
    name: 'a pull that waits is not woken',
    shape: 'channel',
    caughtBy: [
      'wakes a waiting pull when a message arrives',
      'wakes a waiting pull when a delayed message falls due',
      'keeps a waiting pull waiting over a cut',
    ],
    plant: changing((subscription, { options, system }) => ({
      pull: async (max, signal) => {
        const askedAt = system.monotonic();
        const pulled = await subscription.pull(max, signal);
        if (system.monotonic() > askedAt) await sleep(system, options.waitMs);
        return pulled;
      },
    })),
  },
  {
    name: 'a signal that was given before is overlooked',
    shape: 'table',
    caughtBy: ['asks for nothing when the signal was given before'],
    plant: changing((subscription) => ({
      pull: (max, signal) => subscription.pull(max, signal.aborted ? unaborted() : signal),
    })),
  },
  {
    name: 'a pull that is cut by its signal leases a message to nobody',
    shape: 'table',
    caughtBy: ['loses nothing to a pull that was told to ask no more'],
    plant: changing((subscription) => ({
      pull: (max, signal) => {
        const pull = subscription.pull(max, signal.aborted ? signal : unaborted());
        const cut = new Promise<readonly Delivery[]>((resolve) => signal.addEventListener('abort', () => resolve([])));
        return Promise.race([pull, cut]);
      },
    })),
  },
  {
    name: 'a queue is read by a prefix of its name',
    shape: 'table',
    caughtBy: ['brings no more of a queue than was published to it'],
    plant: (broker) => ({
      ...bound(broker),
      subscribe: (_, options) => broker.subscribe('queue-', options),
      publish: (_, messages, options) => broker.publish('queue-', messages, options),
    }),
  },
  {
    name: 'a message is handed out twice',
    shape: 'table',
    caughtBy: ['hands each message to one consumer only', 'lets other keys pass'],
    plant: changing((subscription) => ({
      pull: async (max, signal) => {
        const pulled = await subscription.pull(max, signal);
        return pulled.length > 0 && pulled.length < max ? [...pulled, pulled[0]!] : pulled;
      },
    })),
  },
  {
    name: 'leases are shorter than was asked for',
    shape: 'table',
    caughtBy: ['hides a message while its lease runs'],
    plant: subscribing((options) => ({ ...options, leaseMs: options.leaseMs / 10 })),
  },
  {
    name: 'leases never end',
    shape: 'table',
    caughtBy: ['hands a message out again when its lease has run out', 'brings back what a dead process held'],
    plant: subscribing((options) => ({ ...options, leaseMs: 1_000 * options.leaseMs })),
  },
  {
    name: 'the order of keys is not kept',
    shape: 'table',
    caughtBy: [
      'hands out the messages of a key one at a time, in order',
      'never has one key in two hands, and keeps its order over several consumers',
      'lets nothing of a key pass what is held',
      'lets nothing of a key pass what is retried',
      'lets nothing of a key pass what is given back for later',
      'lets nothing of a key pass what was published with a delay',
    ],
    plant: subscribing((options) => ({ ...options, order: 'none' })),
  },
  {
    name: 'a pull brings suspects',
    shape: 'channel',
    caughtBy: ['sets aside what crashed twice, and tells how many wait', 'lets others pass while a suspect waits'],
    plant: changing((subscription) => ({
      pull: async (max, signal) => {
        const suspect = signal.aborted ? undefined : await subscription.alone!(signal);
        return suspect === undefined ? subscription.pull(max, signal) : [suspect];
      },
    })),
  },
  {
    name: 'a message that is no suspect is run alone',
    shape: 'table',
    caughtBy: ['brings nothing alone from a queue without suspects'],
    plant: changing((subscription) => ({
      alone: async (signal) => (await subscription.alone!(signal)) ?? (await subscription.pull(1, signal))[0],
    })),
  },
  {
    name: 'nobody is told of suspects',
    shape: 'channel',
    caughtBy: ['sets aside what crashed twice, and tells how many wait'],
    plant: subscribing((options) => ({ ...options, suspects: () => undefined })),
  },
  {
    name: 'suspects that are gone are not told',
    shape: 'table',
    caughtBy: ['brings no suspect twice, and none where none waits'],
    plant: subscribing((options) => ({
      ...options,
      suspects: (waiting) => {
        if (waiting > 0) options.suspects(waiting);
      },
    })),
  },
  {
    name: 'a start is not durable when begin answers',
    shape: 'log',
    caughtBy: ['knows a start that was begun when its owner is gone'],
    plant: journalling((journal) => ({
      ...journal,
      begin: async (starts) =>
        starts.map(({ delivery: { attempt, strikes = 0 } }) => ({ attempt, strikes, begun: true, ended: false })),
    })),
  },
  {
    name: 'what is only brought is begun',
    shape: 'log',
    caughtBy: ['knows nothing of a message that was brought and not begun'],
    plant: changing((subscription) => ({
      pull: async (max, signal) => {
        const pulled = await subscription.pull(max, signal);
        await subscription.journal!.begin(pulled.map((delivery) => ({ delivery, alone: false })));
        return pulled;
      },
    })),
  },
  {
    name: 'a suspect is begun among others',
    shape: 'log',
    caughtBy: ['begins what crashed twice only alone', 'counts a suspect that was refused no further'],
    plant: journalling((journal) => ({
      ...journal,
      begin: (starts) => journal.begin(starts.map((start) => ({ ...start, alone: true }))),
    })),
  },
];
