import type { ProvisionStep, QueueWanted } from '../../ports/broker.ts';
import type { KafkaClient, NewTopic } from './client.ts';
import { checkName, helpersOf } from './topics.ts';

/** A step, and the topic that it creates. */
export interface Planned extends ProvisionStep {
  readonly topic?: NewTopic;
}

export interface Creation {
  readonly partitions: number;
  readonly replication: number;
}

/** What is missing of a queue and what differs; the configuration of what exists is not compared. */
export async function planOf(
  client: KafkaClient,
  queue: string,
  group: string,
  wanted: QueueWanted,
  { partitions, replication }: Creation,
): Promise<readonly Planned[]> {
  const helpers = helpersOf(queue, group, wanted);
  for (const { name } of helpers) checkName(name, 'deadLetter');
  const there = await client.partitionsOf([queue, ...helpers.map(({ name }) => name)]);
  const count = there.get(queue) ?? partitions;
  const steps: Planned[] = [];
  if (!there.has(queue)) steps.push(creation(queue, 'the topic', count, replication, {}));
  for (const { name, why, config } of helpers) {
    const has = there.get(name);
    if (has === undefined) steps.push(creation(name, why, count, replication, config));
    else if (has < count) {
      const conflict = `it has ${has} partitions, fewer than the ${count} of '${queue}': add some, and keys change places`;
      steps.push({ action: 'conflict', what: name, why: conflict });
    }
  }
  return steps;
}

function creation(
  name: string,
  why: string,
  partitions: number,
  replication: number,
  config: Readonly<Record<string, string>>,
): Planned {
  return { action: 'create', what: name, why, topic: { name, partitions, replication, config } };
}

/** Resolves when all of them can be written to and read. */
export async function create(client: KafkaClient, steps: readonly Planned[]): Promise<void> {
  await Promise.all(steps.map(({ topic }) => (topic === undefined ? undefined : client.createTopic(topic))));
}
