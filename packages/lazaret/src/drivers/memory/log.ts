import { HEADER } from '../../core/headers.ts';
import type { Message } from '../../core/message.ts';
import { withHeader } from '../../core/message.ts';
import type { QueueFacts, SubscribeOptions, Subscription } from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { Client } from './client.ts';
import { LogGroup } from './log/log-group.ts';
import { LogService } from './log/log-service.ts';
import { LogTopic } from './log/log-topic.ts';
import { type LogOptions, PARTITIONS, SESSION_MS } from './options.ts';
import { deadLetterQueue, type Part, type Seen, type Shape, type World } from './shape.ts';
import { MemorySubscription } from './subscription.ts';

const HOUR_MS = 3_600_000;

/** Partitions with positions, read by groups; retries by copy: Kafka. */
export function logShape(world: World, options: LogOptions): Shape {
  const capabilities = logCapabilities(options);
  const topics = new Map<string, LogTopic>();
  /** Of each topic, by group. */
  const groups = new Map<string, Map<string, LogGroup>>();

  const topicOf = (name: string, partitions = options.partitions ?? PARTITIONS): LogTopic => {
    let topic = topics.get(name);
    if (topic === undefined) {
      topic = new LogTopic(name, partitions, world.clock);
      topics.set(name, topic);
    }
    return topic;
  };

  const groupsOf = (queue: string): Map<string, LogGroup> => {
    let ofQueue = groups.get(queue);
    if (ofQueue === undefined) {
      ofQueue = new Map();
      groups.set(queue, ofQueue);
    }
    return ofQueue;
  };

  const groupOf = (queue: string, name: string): LogGroup => {
    const ofQueue = groupsOf(queue);
    let group = ofQueue.get(name);
    if (group === undefined) {
      const partitions = [...topicOf(queue).partitions, ...topicOf(retriesOf(queue, name), 1).partitions];
      group = new LogGroup(partitions, world.clock, options.sessionMs ?? SESSION_MS);
      ofQueue.set(name, group);
    }
    return group;
  };

  /** A letter that a collector has taken blocks no more. */
  const holdsKey = (topic: LogTopic, key: string): boolean => {
    const readers = [...groupsOf(topic.name).values()];
    const isTaken = (partition: LogTopic['partitions'][number], offset: number) =>
      readers.length > 0 && readers.every((group) => group.hasDone(partition, offset));
    return topic.partitions.some((partition) =>
      partition.records.some(({ message, offset }) => message.key === key && !isTaken(partition, offset)),
    );
  };

  return {
    capabilities: () => capabilities,
    parts: (queue, { deadLetter }): readonly Part[] => [
      { name: queue, why: 'the topic' },
      { name: retriesOf(queue, ''), why: 'its retries' },
      { name: deadLetter ?? deadLetterQueue(queue, {}), why: 'its dead letters' },
    ],
    publish: (queue, message, delayMs) => topicOf(queue).append(withIdHeader(message), delayMs),
    subscribe(client: Client, queue: string, wanted: SubscribeOptions): Subscription {
      const group = wanted.group ?? '';
      const letters = topicOf(deadLetterQueue(queue, wanted));
      const parts = {
        world,
        client,
        queue,
        group: groupOf(queue, group),
        retries: topicOf(retriesOf(queue, group), 1),
        letters,
        isDead: (key: string) => holdsKey(letters, key),
        wanted,
      };
      return new MemorySubscription({
        world,
        client,
        capabilities,
        wanted,
        serve: (front) => new LogService(parts, front),
      });
    },
    /** The lag of the slowest group; what is in somebody's hands counts as ready. */
    facts(queue): QueueFacts {
      const now = world.clock.now();
      const lags = [...groupsOf(queue).keys()].map((name) => {
        const group = groupOf(queue, name);
        const lag = { ready: 0, delayed: 0 };
        for (const { partitions } of [topicOf(queue), topicOf(retriesOf(queue, name), 1)]) {
          for (const partition of partitions) {
            for (const { offset, dueAt } of partition.records) {
              if (!group.hasDone(partition, offset)) lag[dueAt > now ? 'delayed' : 'ready']++;
            }
          }
        }
        return lag;
      });
      if (lags.length === 0) return { ready: topicOf(queue).records().length, approximate: true };
      const slowest = lags.reduce((a, b) => (b.ready + b.delayed > a.ready + a.delayed ? b : a));
      return { ...slowest, approximate: true };
    },
    browse: (queue): Iterable<Seen> => topicOf(queue).records(),
    rebalance(queue) {
      for (const group of groupsOf(queue).values()) group.rotate();
    },
  };
}

function retriesOf(queue: string, group: string): string {
  return group === '' ? `${queue}.retry` : `${queue}.${group}.retry`;
}

/** A record has no id of its own, so ours travels as a header. */
function withIdHeader({ id, ...message }: Message): Message {
  return id === undefined ? message : { ...message, headers: withHeader(message.headers, HEADER.id, id) };
}

function logCapabilities({ limits }: LogOptions): Capabilities {
  return {
    failures: 'copy',
    starts: 'journal',
    crashEvidence: 'exact',
    staleSettle: 'accepted',
    order: 'key',
    retryKeepsOrder: false,
    release: 'hold',
    maxDelayMs: HOUR_MS,
    delayGrainMs: 1,
    maxPublishDelayMs: HOUR_MS,
    lease: false,
    body: 'bytes',
    nullBody: true,
    headerBudgetBytes: 1024 ** 2,
    headerOrder: true,
    nativeExact: true,
    ackAnswered: true,
    ...limits,
  };
}
