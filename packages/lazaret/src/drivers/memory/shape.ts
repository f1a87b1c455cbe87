import type { Message } from '../../core/message.ts';
import type { QueueFacts, QueueWanted, SubscribeOptions, Subscription } from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { System } from '../../ports/system.ts';
import type { Client } from './client.ts';
import type { FaultScript } from './faults.ts';
import type { ServerClock } from './server-clock.ts';
import type { Stats } from './stats.ts';

/** How one family of brokers keeps messages, hands them out and takes them back. The broker around it adds what all have in common. */
export interface Shape {
  capabilities(queue: string): Capabilities;
  /** What provisioning makes for a queue, the queue itself first. */
  parts(queue: string, wanted: QueueWanted): readonly Part[];
  /** Stored when it returns. */
  publish(queue: string, message: Message, delayMs: number): void;
  subscribe(client: Client, queue: string, options: SubscribeOptions): Subscription;
  facts(queue: string): QueueFacts;
  /** Everything that lies in the queue, oldest first. */
  browse(queue: string): Iterable<Seen>;
  /** Hands partitions to other members, where there are any. */
  rebalance?(queue: string): void;
}

export interface Part {
  readonly name: string;
  readonly why: string;
}

export interface Seen {
  /** Grows along the queue. */
  readonly sequence: number;
  readonly message: Message;
}

/** What a shape is built on. */
export interface World {
  readonly system: System;
  readonly clock: ServerClock;
  readonly faults: FaultScript;
  readonly stats: Stats;
}

/** Where a subscription's dead letters go. */
export function deadLetterQueue(
  queue: string,
  { group, deadLetter }: Pick<SubscribeOptions, 'group' | 'deadLetter'>,
): string {
  return deadLetter ?? (group === undefined ? `${queue}.dlq` : `${queue}.${group}.dlq`);
}
