import type { QueueFacts, QueueWanted, SubscribeOptions, Subscription } from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import { ChannelQueue } from './channel/channel-queue.ts';
import { ChannelService } from './channel/channel-service.ts';
import type { Client } from './client.ts';
import type { ChannelOptions } from './options.ts';
import { deadLetterQueue, type Part, type Seen, type Shape, type World } from './shape.ts';
import { MemorySubscription } from './subscription.ts';

const DAY_MS = 24 * 3_600_000;
const EMPTY = new Uint8Array(0);

/** Pushes over channels, retries by copy: RabbitMQ. */
export function channelShape(world: World, options: ChannelOptions): Shape {
  const capabilities = channelCapabilities(options);
  const queues = new Map<string, ChannelQueue>();

  const queueOf = (name: string): ChannelQueue => {
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = new ChannelQueue(name, world.clock, options.singleActive ?? false);
      queues.set(name, queue);
    }
    return queue;
  };

  return {
    capabilities: () => capabilities,
    parts: (queue, { deadLetter, retryDelaysMs = [] }: QueueWanted): readonly Part[] => [
      { name: queue, why: 'the queue' },
      { name: deadLetter ?? deadLetterQueue(queue, {}), why: 'its dead letters' },
      { name: laneOf(queue), why: 'messages that may have crashed a process, to be run alone' },
      ...retryDelaysMs.map((delayMs) => ({ name: `${queue}.retry.${delayMs}`, why: `retries after ${delayMs} ms` })),
    ],
    // n.b. such a server has no null: what is null is stored as empty.
    publish: (queue, message, delayMs) => queueOf(queue).publish({ ...message, body: message.body ?? EMPTY }, delayMs),
    subscribe(client: Client, queue: string, wanted: SubscribeOptions): Subscription {
      const parts = {
        world,
        client,
        queue: queueOf(queue),
        lane: queueOf(laneOf(queue)),
        letters: queueOf(deadLetterQueue(queue, wanted)),
        wanted,
        options,
      };
      return new MemorySubscription({
        world,
        client,
        capabilities,
        wanted,
        serve: (front) => new ChannelService(parts, front),
      });
    },
    facts: (queue): QueueFacts => queueOf(queue).facts(),
    browse: (queue): Iterable<Seen> => queueOf(queue).entries(),
  };
}

function laneOf(queue: string): string {
  return `${queue}.alone`;
}

function channelCapabilities(options: ChannelOptions): Capabilities {
  const { singleActive = false, release = 'hold', consumerTimeoutMs, limits } = options;
  return {
    failures: 'copy',
    starts: 'pull',
    crashEvidence: 'count',
    staleSettle: 'accepted',
    order: singleActive ? 'key' : 'none',
    retryKeepsOrder: false,
    release,
    maxDelayMs: DAY_MS,
    delayGrainMs: 1,
    maxPublishDelayMs: DAY_MS,
    lease: false,
    ...(consumerTimeoutMs === undefined ? {} : { heldAtMostMs: consumerTimeoutMs }),
    body: 'bytes',
    nullBody: false,
    headerBudgetBytes: 64 * 1024,
    headerOrder: true,
    nativeExact: true,
    ackAnswered: false,
    ...limits,
  };
}
