import { headerText } from '../../core/message.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { handingOut, without } from './planting.ts';

/** What can go wrong with what a delivery says. */
export const DELIVERY_FAULTS: readonly PlantedFault[] = [
  {
    name: 'attempts are counted from 0',
    shape: 'table',
    caughtBy: ['describes a first delivery: where it is from, attempt 1, first seen just now'],
    plant: handingOut(() => (delivery) => ({ ...delivery, attempt: delivery.attempt - 1 })),
  },
  {
    name: 'a delivery has methods',
    shape: 'table',
    caughtBy: ['hands out plain data'],
    plant: handingOut(() => (delivery) => ({ ...delivery, ack: () => undefined })),
  },
  {
    name: 'nothing says how long a lease runs',
    shape: 'table',
    caughtBy: ['says at the hand-out how much of the lease is left'],
    plant: handingOut(() => (delivery) => without(delivery, 'leaseMs')),
  },
  {
    name: 'strikes are never counted',
    shape: 'table',
    caughtBy: [
      'counts a start whose owner vanished as a strike',
      'brings a suspect alone, with its strikes',
      'counts a crash while alone as one more strike',
    ],
    plant: handingOut(() => (delivery) => ({ ...delivery, strikes: 0 })),
  },
  {
    name: 'strikes outlive an outcome',
    shape: 'table',
    caughtBy: [
      'forgets strikes when a start has an outcome',
      'makes an ordinary message of a suspect that failed alone',
    ],
    plant: handingOut(() => {
      const most = rememberedBy<number>();
      return (delivery) => ({
        ...delivery,
        strikes: most(delivery, (seen = 0) => Math.max(seen, delivery.strikes ?? 0)),
      });
    }),
  },
  {
    name: 'a vanished owner spends an attempt',
    shape: 'table',
    caughtBy: ['spends no attempt on a start whose owner vanished'],
    plant: handingOut(() => (delivery) => ({ ...delivery, attempt: delivery.attempt + (delivery.strikes ?? 0) })),
  },
  {
    name: 'the attempt begins anew with every retry',
    shape: 'channel',
    caughtBy: ['charges a retry, and nothing but a retry', 'remembers what was charged when the next owner dies'],
    plant: handingOut(() => (delivery) => ({ ...delivery, attempt: 1 })),
  },
  {
    name: 'attempts go on beyond the last',
    shape: 'channel',
    caughtBy: ['never counts beyond the last attempt'],
    plant: handingOut(() => {
      const times = rememberedBy<number>();
      return (delivery) => ({ ...delivery, attempt: times(delivery, (n = 0) => n + 1) });
    }),
  },
  {
    name: 'a forged attempt is believed',
    shape: 'channel',
    caughtBy: [
      'clamps a forged attempt of 0',
      'clamps a forged attempt of 7',
      'clamps a forged attempt of 999999999999999',
    ],
    plant: handingOut(() => (delivery) => ({ ...delivery, attempt: Number(forged(delivery, 'lazaret-attempt') ?? 1) })),
  },
  {
    name: 'an attempt that cannot be read is the first',
    shape: 'channel',
    caughtBy: ['-1', 'two', '1e3', '0x2', ' 2', ''].map(
      (text) => `takes an unreadable attempt for the last one: '${text}'`,
    ),
    plant: handingOut(() => (delivery) => ({
      ...delivery,
      attempt: /^[1-4]$/.test(forged(delivery, 'lazaret-attempt') ?? '') ? delivery.attempt : 1,
    })),
  },
  {
    name: 'a forged time is believed',
    shape: 'table',
    caughtBy: [
      'believes no time from the future, and none that cannot be read',
      'believes no due time that lies years ahead',
    ],
    plant: handingOut(() => (delivery) => ({
      ...delivery,
      firstSeenAt: Number(forged(delivery, 'lazaret-first-seen') ?? delivery.firstSeenAt),
      notBefore: Number(forged(delivery, 'lazaret-not-before') ?? 0),
    })),
  },
  {
    name: 'first seen means last seen',
    shape: 'channel',
    caughtBy: ['keeps the time at which a message was first seen over retries and crashes'],
    plant: handingOut((system) => (delivery) => ({ ...delivery, firstSeenAt: system.now() })),
  },
  {
    name: 'the time before which a staged message is not due stays with it',
    shape: 'table',
    caughtBy: ['forgets that time with the next retry that is not staged'],
    plant: handingOut(() => {
      const first = rememberedBy<number>();
      return (delivery) => ({
        ...delivery,
        notBefore: first(delivery, (seen = delivery.notBefore ?? 0) => seen || (delivery.notBefore ?? 0)),
      });
    }),
  },
  {
    name: 'a message keeps no id from one hand-out to the next',
    shape: 'channel',
    caughtBy: ['keeps the id of a message that brought none from its first retry on'],
    plant: handingOut((system) => (delivery) => ({ ...delivery, message: { ...delivery.message, id: system.id() } })),
  },
  {
    name: 'hand-outs of one message share their bytes',
    shape: 'table',
    caughtBy: ['is not changed by what a publisher or a handler does to its bytes afterwards'],
    plant: handingOut(() => {
      const first = rememberedBy<Uint8Array | null>();
      return (delivery) => {
        const body = first(delivery, (seen = delivery.message.body) => seen);
        return { ...delivery, message: { ...delivery.message, body } };
      };
    }),
  },
  {
    name: 'nothing says that a key is dead',
    shape: 'table',
    caughtBy: ['says of a message that an earlier one of its key is dead'],
    plant: handingOut(() => (delivery) => without(delivery, 'blocked')),
  },
];

function forged({ message }: Delivery, name: string): string | undefined {
  return headerText(message.headers, name);
}

/** One value per message, renewed at every hand-out from what it was before. */
function rememberedBy<T>(): (delivery: Delivery, renew: (before: T | undefined) => T) => T {
  const values = new Map<string | undefined, T>();
  return ({ message: { id } }, renew) => {
    const value = renew(values.get(id));
    values.set(id, value);
    return value;
  };
}
