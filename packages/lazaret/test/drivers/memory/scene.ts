import type { MemoryOptions, MemoryServer } from '../../../src/drivers/memory/index.ts';
import { memoryServer } from '../../../src/drivers/memory/index.ts';
import type { Broker, Delivery, OutgoingMessage, SubscribeOptions, Subscription } from '../../../src/ports/broker.ts';
import { ManualSystem } from '../../../src/testing/manual-system.ts';

/** One server on a clock of its own, and consumers that are driven by hand. */
export class Scene {
  readonly system: ManualSystem = new ManualSystem();
  readonly server: MemoryServer;

  constructor(options: MemoryOptions = {}) {
    this.server = memoryServer({ ...options, system: this.system });
  }

  async publish(queue: string, ...texts: readonly (string | OutgoingMessage)[]): Promise<void> {
    const messages = texts.map((text) => (typeof text === 'string' ? message(text) : text));
    await this.server.connect().publish(queue, messages);
  }

  async consumer(queue: string, options: Partial<SubscribeOptions> = {}, broker?: Broker): Promise<Consumer> {
    const client = broker ?? this.server.connect();
    const lost: Delivery[] = [];
    const suspects: number[] = [];
    const subscription = await client.subscribe(queue, {
      prefetch: 10,
      leaseMs: 1_000,
      waitMs: 500,
      order: 'none',
      maxAttempts: 4,
      lost: (deliveries) => void lost.push(...deliveries),
      suspects: (waiting) => void suspects.push(waiting),
      ...options,
    });
    return { broker: client, subscription, lost, suspects, pull: (max) => this.#pull(subscription, max) };
  }

  /** What is there, without waiting for more. */
  async #pull(subscription: Subscription, max = 10): Promise<readonly Delivery[]> {
    const asking = new AbortController();
    const pull = subscription.pull(max, asking.signal);
    pull.catch(() => undefined);
    await this.system.settle();
    asking.abort();
    return pull;
  }
}

export interface Consumer {
  readonly broker: Broker;
  readonly subscription: Subscription;
  readonly lost: readonly Delivery[];
  readonly suspects: readonly number[];
  pull(max?: number): Promise<readonly Delivery[]>;
}

export function message(text: string, rest: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { id: `id-${text}`, body: Buffer.from(text), ...rest };
}

export function textOf({ message: { body } }: { readonly message: { readonly body: Uint8Array | null } }): string {
  return Buffer.from(body ?? []).toString();
}

export function texts(deliveries: readonly { readonly message: { readonly body: Uint8Array | null } }[]): string[] {
  return deliveries.map(textOf);
}

export const EVIDENCE = {
  reason: 'poison',
  queue: 'orders',
  attempts: 1,
  strikes: 0,
  firstSeenAt: 1,
  deadAt: 2,
  fingerprint: 'v1:0',
  why: 'customer is empty',
} as const;
