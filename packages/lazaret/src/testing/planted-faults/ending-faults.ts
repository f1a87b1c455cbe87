import type { Delivery } from '../../ports/broker.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { changing, losing, sleep, subscribing, tellingLosses, tellingLossLate } from './planting.ts';

/** What can go wrong when a connection or a consumer ends. */
export const ENDING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a loss is not told',
    shape: 'channel',
    caughtBy: [
      'tells at once what a cut connection took, without being asked',
      'tells a loss before a settle of it fails',
    ],
    plant: subscribing((options) => ({ ...options, lost: () => undefined })),
  },
  {
    name: 'a lease that ran out is not told',
    shape: 'table',
    caughtBy: ['tells that a lease has run out before a settle of it fails'],
    plant: subscribing((options) => ({ ...options, lost: () => undefined })),
  },
  {
    name: 'a loss is told only when a settle fails',
    shape: 'channel',
    caughtBy: ['tells at once what a cut connection took, without being asked'],
    plant: tellingLossLate,
  },
  {
    name: 'a loss is told twice',
    shape: 'log',
    caughtBy: ['tells a loss once'],
    plant: subscribing((options) => ({ ...options, lost: (lost) => options.lost([...lost, ...lost]) })),
  },
  {
    name: 'what was settled is called lost',
    shape: 'channel',
    caughtBy: ['calls nothing lost that was settled, or never handed out'],
    plant: tellingLosses((lost, settled) => [...lost, ...settled]),
  },
  {
    name: 'what was settled in time is called lost when its lease would have ended',
    shape: 'table',
    caughtBy: ['calls nothing lost whose lease was extended or ended in time'],
    plant: changing((subscription, { options, system }) => ({
      settle: (batch) => {
        system.after(options.leaseMs, () => options.lost(batch.map(({ delivery }) => delivery)));
        return subscription.settle(batch);
      },
    })),
  },
  {
    name: 'a consumer does not come back after a cut',
    shape: 'channel',
    caughtBy: [
      'comes back by itself after a cut, and brings what it took',
      'refuses after a cut what was handed out before it',
    ],
    plant: (broker, system) => {
      let isLost = false;
      const noting = losing(() => {
        isLost = true;
      });
      const deaf = changing((subscription) => ({
        pull: (max, signal) => subscription.pull(max, isLost ? AbortSignal.abort() : signal),
      }));
      return deaf(noting(broker, system), system);
    },
  },
  {
    name: 'a closed consumer keeps what it had buffered',
    shape: 'channel',
    caughtBy: ['gives back at close what was never handed out, at once'],
    plant: changing(() => ({ close: async () => undefined })),
  },
  {
    name: 'a pull stays open over close',
    shape: 'table',
    caughtBy: ['ends waiting pulls at close, and swallows nothing with them'],
    plant: changing((subscription, { options, system }) => ({
      pull: async (max, signal) => {
        const pulled = await subscription.pull(max, signal);
        if (pulled.length === 0) await sleep(system, options.waitMs);
        return pulled;
      },
    })),
  },
  {
    name: 'a close forgets what is in hand',
    shape: 'channel',
    caughtBy: ['loses nothing that is in hand at close'],
    plant: changing((subscription) => {
      const inHand: Delivery[] = [];
      return {
        pull: async (max, signal) => {
          const pulled = await subscription.pull(max, signal);
          inHand.push(...pulled);
          return pulled;
        },
        close: async () => {
          await subscription.settle(inHand.map((delivery) => ({ delivery, verb: 'ack' })));
          await subscription.close();
        },
      };
    }),
  },
  {
    name: 'a consumer that closes takes its client with it',
    shape: 'log',
    caughtBy: ['leaves other consumers of the same client alone at close'],
    plant: changing((_, { broker }) => ({ close: () => broker.close() })),
  },
  {
    name: 'a closed consumer answers with nothing',
    shape: 'table',
    caughtBy: [
      'refuses every verb of a closed consumer with LZ1102',
      'refuses every verb of a closed client with LZ1102',
    ],
    plant: changing((subscription) => ({ pull: (max, signal) => subscription.pull(max, signal).catch(() => []) })),
  },
  {
    name: 'a second close fails',
    shape: 'table',
    caughtBy: ['can be closed twice'],
    plant: changing((subscription) => {
      let closes = 0;
      return { close: () => (++closes > 1 ? Promise.reject(new Error('closed already')) : subscription.close()) };
    }),
  },
  {
    name: 'a close waits for a connection that is cut',
    shape: 'channel',
    caughtBy: ['can be closed while its connection is cut'],
    plant: (broker, system) => {
      let isLost = false;
      const noting = losing(() => {
        isLost = true;
      });
      const waiting = changing((subscription) => ({
        close: () => (isLost ? new Promise(() => undefined) : subscription.close()),
      }));
      return waiting(noting(broker, system), system);
    },
  },
];
