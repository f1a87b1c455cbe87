import type { Delivery, Settlement } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { Arrival } from './arrival.ts';
import { letterProperties, retryProperties } from './outgoing.ts';
import type { Parcel } from './outlet.ts';
import { parcelTo } from './parcel.ts';
import { stayFor, type Tier } from './tiers.ts';

/** Where a queue's messages can go. */
export interface Places {
  readonly queue: string;
  readonly letters: string;
  readonly lane: string;
  readonly tiers: readonly Tier[];
}

export type Replaced = Extract<Settlement, { readonly verb: 'retry' | 'release' | 'deadLetter' }>;

type Chances = Pick<System, 'now' | 'random' | 'id'>;

/** What is sent in the place of a delivery, before that may go. */
export function replacementFor(arrival: Arrival, settlement: Replaced, places: Places, system: Chances): Parcel {
  const { delivery } = settlement;
  const { queue, letters, lane } = places;
  switch (settlement.verb) {
    case 'retry':
      return copyTo(queue, arrival, delivery, { ...settlement, charge: 1 }, places, system);
    case 'release': {
      // n.b. without a delay a suspect was not tried, so it stays one.
      const to = arrival.isAlone && settlement.delayMs === 0 ? lane : queue;
      return copyTo(to, arrival, delivery, { ...settlement, charge: 0 }, places, system);
    }
    case 'deadLetter': {
      const id = delivery.message.id ?? system.id();
      return parcelTo(
        '',
        letters,
        letterProperties(delivery, arrival.origin, settlement.evidence, id),
        delivery.message.body,
      );
    }
  }
}

/** Of a suspect, as it came. */
export function suspectFor(arrival: Arrival, delivery: Delivery, places: Places, system: Chances): Parcel {
  const { notBefore } = delivery;
  const wait = { delayMs: 0, charge: 0, ...(notBefore === undefined ? {} : { notBefore }) } as const;
  return copyTo(places.lane, arrival, delivery, wait, places, system);
}

interface Wait {
  readonly delayMs: number;
  readonly notBefore?: number;
  readonly charge: 0 | 1;
}

/** The first copy of ours gives an id where there was none. */
function copyTo(
  to: string,
  arrival: Arrival,
  delivery: Delivery,
  { delayMs, notBefore, charge }: Wait,
  { tiers }: Places,
  system: Chances,
): Parcel {
  const { message, attempt, firstSeenAt } = delivery;
  const { tier, restMs } = stayFor(tiers, delayMs, system.random());
  const properties = retryProperties(delivery, arrival.origin, {
    id: message.id ?? system.id(),
    attempt: attempt + charge,
    firstSeenAt,
    notBefore: restMs > 0 ? Math.max(notBefore ?? 0, system.now() + delayMs) : notBefore,
  });
  return parcelTo('', tier?.name ?? to, properties, message.body);
}
