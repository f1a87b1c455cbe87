import { connectionReset } from '../../drivers/memory/exchange.ts';
import type {
  Address,
  Broker,
  Delivery,
  Extension,
  OutgoingMessage,
  ProvisionPlan,
  PublishOptions,
  PublishResult,
  QueueFacts,
  QueueWanted,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { History, Journal, Start } from '../../ports/journal.ts';
import type { Wire } from './wire.ts';

/** Sees everything that a process says to the server and hears from it, at the moment in which it counts. */
export interface Witness {
  /** The server does it now: faults may be put in its way. */
  pulling(): void;
  settling(batch: readonly Settlement[]): void;
  extending(batch: readonly Extension[]): void;
  beginning(starts: readonly Start[]): void;
  publishing(messages: readonly OutgoingMessage[]): void;
  begun(starts: readonly Start[], histories: readonly History[]): void;
  /** The process says it. */
  said(settlement: Settlement): void;
  handedOut(deliveries: readonly Delivery[], alone: boolean): void;
  settled(settlement: Settlement, result: SettleResult): void;
  extended(extension: Extension, result: SettleResult): void;
  lost(deliveries: readonly Delivery[]): void;
  /** The process hears of it now. */
  toldLost(deliveries: readonly Delivery[]): void;
  /** Whether a request for a suspect fails. */
  refusesAlone(): boolean;
}

/** The server as one process sees it: over a wire. */
export class Link implements Broker {
  readonly name: string;
  readonly #broker: Broker;
  readonly #wire: Wire;
  readonly #witness: Witness;

  constructor(broker: Broker, wire: Wire, witness: Witness) {
    this.name = broker.name;
    this.#broker = broker;
    this.#wire = wire;
    this.#witness = witness;
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    const wire = this.#wire;
    const witness = this.#witness;
    const subscription = await wire.ask(() =>
      this.#broker.subscribe(queue, {
        ...options,
        lost: (deliveries) => {
          witness.lost(deliveries);
          wire.answer(() => {
            witness.toldLost(deliveries);
            options.lost(deliveries);
          });
        },
        suspects: (waiting) => wire.answer(() => options.suspects(waiting)),
      }),
    );
    return linked(subscription, wire, witness);
  }

  publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options?: PublishOptions,
  ): Promise<readonly PublishResult[]> {
    return this.#wire.ask(() => {
      this.#witness.publishing(messages);
      return this.#broker.publish(to, messages, options);
    });
  }

  capabilities(queue: string): Promise<Capabilities> {
    return this.#wire.ask(() => this.#broker.capabilities(queue));
  }

  inspect(queue: string): Promise<QueueFacts> {
    return this.#wire.ask(() => this.#broker.inspect(queue));
  }

  provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    return this.#wire.ask(() => this.#broker.provision(queue, wanted));
  }

  close(): Promise<void> {
    return this.#wire.ask(() => this.#broker.close());
  }
}

function linked(subscription: Subscription, wire: Wire, witness: Witness): Subscription {
  const { capabilities, journal, alone, credit } = subscription;
  const pulls = new Set<Promise<unknown>>();
  const signals = new Signals(wire);

  return {
    capabilities,
    ...(journal === undefined ? {} : { journal: linkedJournal(journal, wire, witness) }),
    pull(max, signal) {
      const pull = wire.ask(async () => {
        witness.pulling();
        const deliveries = await subscription.pull(max, signals.there(signal));
        witness.handedOut(deliveries, false);
        return deliveries;
      });
      pulls.add(pull);
      const over = () => pulls.delete(pull);
      pull.then(over, over);
      return pull;
    },
    settle(batch) {
      for (const settlement of batch) witness.said(settlement);
      return wire.ask(async () => {
        witness.settling(batch);
        const results = await subscription.settle(batch);
        for (const [i, settlement] of batch.entries()) witness.settled(settlement, results[i]!);
        return results;
      });
    },
    extend: (batch) =>
      wire.ask(async () => {
        witness.extending(batch);
        const results = await subscription.extend(batch);
        for (const [i, extension] of batch.entries()) witness.extended(extension, results[i]!);
        return results;
      }),
    ...(alone === undefined
      ? {}
      : {
          alone: (signal: AbortSignal) =>
            wire.ask(async () => {
              if (witness.refusesAlone()) throw connectionReset();
              const delivery = await subscription.alone!(signal);
              if (delivery !== undefined) witness.handedOut([delivery], true);
              return delivery;
            }),
        }),
    ...(credit === undefined ? {} : { credit: (n: number) => wire.ask(() => subscription.credit!(n)) }),
    /** As a driver does: what was asked for is waited for. */
    async close() {
      await Promise.allSettled(pulls);
      await wire.ask(() => subscription.close());
    },
  };
}

export function linkedJournal(journal: Journal, wire: Wire, witness: Witness): Journal {
  return {
    begin: (starts) =>
      wire.ask(async () => {
        witness.beginning(starts);
        const histories = await journal.begin(starts);
        witness.begun(starts, histories);
        return histories;
      }),
    end: (ends) => wire.ask(() => journal.end(ends)),
    alive: (owner, leaseMs) => wire.ask(() => journal.alive(owner, leaseMs)),
  };
}

/** Each signal travels as well, behind what was said before it. */
class Signals {
  readonly #wire: Wire;
  readonly #there = new WeakMap<AbortSignal, AbortSignal>();

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** How the server hears of `here`. */
  there(here: AbortSignal): AbortSignal {
    let there = this.#there.get(here);
    if (there === undefined) {
      const controller = new AbortController();
      there = controller.signal;
      if (here.aborted) controller.abort(HUSHED);
      else here.addEventListener('abort', () => this.#wire.request(() => controller.abort(HUSHED)), { once: true });
      this.#there.set(here, there);
    }
    return there;
  }
}

const HUSHED = new Error('no more is wanted');
