import { LazaretError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type {
  Address,
  Broker,
  OutgoingMessage,
  Page,
  ProvisionPlan,
  PublishOptions,
  PublishResult,
  QueueFacts,
  QueueWanted,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { SharedState } from '../../ports/shared-state.ts';
import type { Client } from './client.ts';
import type { Dedupe } from './dedupe.ts';
import { checkDelay, grained } from './delays.ts';
import { type Answer, exchange } from './exchange.ts';
import type { Registry } from './registry.ts';
import type { Shape, World } from './shape.ts';
import { type SharedEntries, sharedState } from './shared-state.ts';
import { checkRoom, handedCopy, ownCopy } from './stored.ts';

export interface BrokerParts {
  readonly world: World;
  readonly client: Client;
  readonly shape: Shape;
  readonly registry: Registry;
  readonly dedupe: Dedupe;
  readonly entries: SharedEntries;
}

/** One client's view of the server: what all shapes have in common. */
export class MemoryBroker implements Broker {
  readonly name = 'memory';
  readonly shared: SharedState;
  readonly #parts: BrokerParts;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    this.shared = sharedState(parts.entries, parts.client);
  }

  async subscribe(queue: string, options: SubscribeOptions): Promise<Subscription> {
    const { client, shape, registry } = this.#parts;
    await client.connected();
    if (!registry.find(queue)) throw missingQueue(queue);
    if (options.order === 'key' && shape.capabilities(queue).order === 'none') throw unordered(queue);
    registry.readsWith(queue, options);
    return shape.subscribe(client, queue, options);
  }

  async capabilities(queue: string): Promise<Capabilities> {
    await this.#parts.client.connected();
    return this.#parts.shape.capabilities(queue);
  }

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    const { world, client } = this.#parts;
    await client.connected();
    const queue = queueOf(to);
    const delayMs = options.delayMs ?? 0;
    const answers = await exchange(world, client, 'publish', messages, (message) =>
      this.#store(queue, message, delayMs),
    );
    return client.hear(answers.map(publishResult));
  }

  #store(queue: string | undefined, message: OutgoingMessage, delayMs: number): PublishResult {
    const { shape, registry, dedupe } = this.#parts;
    if (queue === undefined || !registry.find(queue)) return 'unroutable';
    const capabilities = shape.capabilities(queue);
    try {
      checkDelay(delayMs, capabilities.maxPublishDelayMs);
      checkRoom(message, capabilities.headerBudgetBytes);
    } catch (problem) {
      return problem as Error;
    }
    if (message.dedupeId !== undefined && dedupe.isRepeat(queue, message.dedupeId)) return 'done';
    shape.publish(queue, ownCopy(message), grained(delayMs, capabilities));
    return 'done';
  }

  async inspect(queue: string): Promise<QueueFacts> {
    const { client, shape, registry } = this.#parts;
    await client.connected();
    if (!registry.find(queue)) throw missingQueue(queue);
    let dead = 0;
    for (const name of registry.letterQueues(queue)) for (const _ of shape.browse(name)) dead++;
    return { ...shape.facts(queue), dead };
  }

  async browse(queue: string, from: string | undefined, max: number): Promise<Page<Message>> {
    const { client, shape } = this.#parts;
    await client.connected();
    const after = Number(from ?? -1);
    const items: Message[] = [];
    let last = after;
    for (const { sequence, message } of shape.browse(queue)) {
      if (sequence <= after) continue;
      if (items.length === max) return { items, next: String(last) };
      items.push(handedCopy(message));
      last = sequence;
    }
    return { items };
  }

  async provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    const { client, shape, registry } = this.#parts;
    await client.connected();
    const missing = shape.parts(queue, wanted).filter(({ name }) => !registry.has(name));
    const steps: ProvisionPlan['steps'] = [
      ...missing.map(({ name, why }) => ({ action: 'create' as const, what: name, why })),
      ...(wanted.ordered && shape.capabilities(queue).order === 'none' ? [UNORDERED_STEP] : []),
    ];
    return {
      steps,
      apply: async () => {
        await client.connected();
        for (const { name } of missing) registry.declare(name);
      },
    };
  }

  close(): Promise<void> {
    return this.#parts.client.close();
  }
}

const UNORDERED_STEP = {
  action: 'unsupported',
  what: 'order by key',
  why: 'this shape hands messages of one key to several consumers at once',
} as const;

/** The default exchange routes by the queue's name; there is no other. */
function queueOf(to: Address): string | undefined {
  if (typeof to === 'string') return to;
  return to.exchange === '' ? to.routingKey : undefined;
}

function publishResult(answer: Answer<PublishResult>): PublishResult {
  return answer === 'no answer' ? 'unknown' : answer;
}

function missingQueue(queue: string): LazaretError {
  return new LazaretError('LZ1302', `There is no queue '${queue}'.`, { hint: 'Provision it, or correct its name.' });
}

function unordered(queue: string): LazaretError {
  return new LazaretError('LZ1051', `The messages of queue '${queue}' cannot be kept in order.`, {
    hint: "Use shape 'table' or 'log', or 'channel' with singleActive.",
  });
}
