import type {
  Broker,
  Delivery,
  OutgoingMessage,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Journal } from '../../ports/journal.ts';
import type { System } from '../../ports/system.ts';

type Plant = (broker: Broker, system: System) => Broker;
/** What a change may need beside the subscription itself. */
export interface Surroundings {
  readonly broker: Broker;
  readonly options: SubscribeOptions;
  readonly system: System;
}

type Settle = (batch: readonly Settlement[]) => Promise<readonly SettleResult[]>;

/** The same broker as a plain object, so that single verbs can be replaced. */
export function bound(broker: Broker): Broker {
  return {
    name: broker.name,
    subscribe: (queue, options) => broker.subscribe(queue, options),
    capabilities: (queue) => broker.capabilities(queue),
    publish: (to, messages, options) => broker.publish(to, messages, options),
    inspect: (queue) => broker.inspect(queue),
    ...(broker.browse === undefined ? {} : { browse: (queue, from, max) => broker.browse!(queue, from, max) }),
    provision: (queue, wanted) => broker.provision(queue, wanted),
    close: () => broker.close(),
  };
}

function boundSubscription(subscription: Subscription): Subscription {
  const { capabilities, journal, alone, credit } = subscription;
  return {
    capabilities,
    ...(journal === undefined ? {} : { journal }),
    pull: (max, signal) => subscription.pull(max, signal),
    settle: (batch) => subscription.settle(batch),
    extend: (batch) => subscription.extend(batch),
    ...(alone === undefined ? {} : { alone: (signal) => subscription.alone!(signal) }),
    ...(credit === undefined ? {} : { credit: (n) => subscription.credit!(n) }),
    close: () => subscription.close(),
  };
}

export function changing(change: (subscription: Subscription, around: Surroundings) => Partial<Subscription>): Plant {
  return (broker, system) => ({
    ...bound(broker),
    async subscribe(queue, options) {
      const subscription = await broker.subscribe(queue, options);
      return { ...boundSubscription(subscription), ...change(subscription, { broker, options, system }) };
    },
  });
}

export function subscribing(change: (options: SubscribeOptions) => SubscribeOptions): Plant {
  return (broker) => ({ ...bound(broker), subscribe: (queue, options) => broker.subscribe(queue, change(options)) });
}

export function settling(
  change: (settle: Settle, batch: readonly Settlement[]) => Promise<readonly SettleResult[]>,
): Plant {
  return changing((subscription) => ({
    settle: (batch) => change((settlements) => subscription.settle(settlements), batch),
  }));
}

/** Answers what `instead` answers, and settles the rest. */
export function each(
  batch: readonly Settlement[],
  settle: Settle,
  instead: (settlement: Settlement) => SettleResult | undefined,
): Promise<readonly SettleResult[]> {
  return Promise.all(batch.map(async (settlement) => instead(settlement) ?? (await settle([settlement]))[0]!));
}

/** Gives each client a change of its own, so that it may remember what it saw. */
export function handingOut(newChange: (system: System) => (delivery: Delivery) => Delivery): Plant {
  return (broker, system) => {
    const change = newChange(system);
    const changeSuspect = (suspect: Delivery | undefined) => suspect && change(suspect);
    const changeHandOuts = changing((subscription) => ({
      pull: async (max, signal) => (await subscription.pull(max, signal)).map(change),
      ...(subscription.alone === undefined
        ? {}
        : { alone: async (signal) => changeSuspect(await subscription.alone!(signal)) }),
    }));
    return changeHandOuts(broker, system);
  };
}

export function journalling(change: (journal: Journal) => Journal): Plant {
  return changing(({ journal }) => (journal === undefined ? {} : { journal: change(journal) }));
}

export function publishing(change: (message: OutgoingMessage) => OutgoingMessage): Plant {
  return (broker) => ({
    ...bound(broker),
    publish: (to, messages, options) => broker.publish(to, messages.map(change), options),
  });
}

/** Tells what `change` makes of a loss and of what was settled before it. */
export function tellingLosses(
  change: (lost: readonly Delivery[], settled: readonly Delivery[]) => readonly Delivery[],
): Plant {
  return (broker, system) => {
    const settled: Delivery[] = [];
    const noting = changing((subscription) => ({
      settle(batch) {
        settled.push(...batch.map(({ delivery }) => delivery));
        return subscription.settle(batch);
      },
    }));
    const telling = subscribing((options) => ({ ...options, lost: (lost) => options.lost(change(lost, settled)) }));
    return noting(telling(broker, system), system);
  };
}

/** A loss is kept back until a settle has failed. */
export const tellingLossLate: Plant = (broker, system) => {
  const untold: (() => void)[] = [];
  const keeping = subscribing((options) => ({
    ...options,
    lost: (deliveries) => void untold.push(() => options.lost(deliveries)),
  }));
  const tellingAfterwards = changing((subscription) => ({
    async settle(batch) {
      const results = await subscription.settle(batch);
      for (const tell of untold.splice(0)) tell();
      return results;
    },
  }));
  return tellingAfterwards(keeping(broker, system), system);
};

/** Calls `react` when anything is lost. */
export function losing(react: () => void): Plant {
  return subscribing((options) => ({
    ...options,
    lost(deliveries) {
      react();
      options.lost(deliveries);
    },
  }));
}

export function without<T extends object, K extends keyof T>(value: T, name: K): T {
  const { [name]: _, ...rest } = value;
  return rest as T;
}

export function withDelay(settlement: Settlement, change: (delayMs: number) => number): Settlement {
  return 'delayMs' in settlement ? { ...settlement, delayMs: change(settlement.delayMs) } : settlement;
}

export function rewrittenJson(body: Uint8Array | null): Uint8Array | null {
  const text = Buffer.from(body ?? []).toString();
  return text.startsWith('{') ? Buffer.from(JSON.stringify(JSON.parse(text))) : body;
}

export function sleep(system: System, ms: number): Promise<void> {
  return new Promise((resolve) => system.after(ms, resolve));
}
