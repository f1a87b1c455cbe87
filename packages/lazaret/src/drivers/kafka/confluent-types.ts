import type { PartitionId, Position, SendResult } from './client.ts';

/** The part of @confluentinc/kafka-javascript 1.10 that we use: its callback API, so that nobody needs the package to compile. */
export interface Confluent {
  readonly Producer: new (config: object) => Producer;
  readonly KafkaConsumer: new (config: object, topicConfig: object) => Consumer;
  readonly AdminClient: { create(config: object, handlers: object): Admin };
}

export interface LibraryError {
  readonly code: number;
  readonly message: string;
}

type Done<T = void> = (error: LibraryError | null | undefined, answer: T) => void;

interface Connectable {
  connect(metadata: { readonly timeout: number }, done: Done<unknown>): unknown;
  on(event: 'event.log', listener: (log: { readonly message: string }) => void): unknown;
}

export interface Producer extends Connectable {
  produce(
    topic: string,
    partition: null,
    value: Buffer | null,
    key: Buffer | null,
    timestamp: null,
    opaque: (result: SendResult) => void,
    headers: readonly object[],
  ): unknown;
  setPollInBackground(isWanted: boolean): unknown;
  disconnect(timeoutMs: number, done: () => void): unknown;
  on(event: 'event.log', listener: (log: { readonly message: string }) => void): unknown;
  on(
    event: 'delivery-report',
    listener: (
      error: LibraryError | null | undefined,
      report: { readonly opaque: (result: SendResult) => void },
    ) => void,
  ): unknown;
}

export type Answered = PartitionId & Partial<Position> & { readonly error?: LibraryError };

export interface Consumer extends Connectable {
  setDefaultConsumeTimeout(ms: number): unknown;
  setDefaultIsTimeoutOnlyForFirstMessage(isOnly: boolean): unknown;
  subscribe(topics: readonly string[]): unknown;
  consume(max: number, done: Done<readonly NativeRecord[]>): unknown;
  committed(
    partitions: readonly PartitionId[],
    timeoutMs: number,
    done: Done<readonly (PartitionId & { readonly offset?: number; readonly metadata?: string | null })[]>,
  ): unknown;
  commit(positions: readonly Position[]): unknown;
  commitSync(positions: readonly Position[]): unknown;
  pause(partitions: readonly PartitionId[]): unknown;
  resume(partitions: readonly PartitionId[]): unknown;
  incrementalAssign(partitions: readonly PartitionId[]): unknown;
  incrementalUnassign(partitions: readonly PartitionId[]): unknown;
  assignmentLost(): boolean;
  disconnect(done: () => void): unknown;
  on(event: 'event.log', listener: (log: { readonly message: string }) => void): unknown;
  on(event: 'event.error' | 'rebalance.error', listener: (error: LibraryError) => void): unknown;
  on(
    event: 'offset.commit',
    listener: (error: LibraryError | null | undefined, list: readonly Answered[]) => void,
  ): unknown;
}

export interface NativeRecord extends PartitionId {
  readonly offset: number;
  readonly timestamp?: number;
  readonly key?: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: readonly object[];
}

export interface Admin {
  createTopic(
    topic: {
      readonly topic: string;
      readonly num_partitions: number;
      readonly replication_factor: number;
      readonly config: object;
    },
    timeoutMs: number,
    done: Done,
  ): unknown;
  describeTopics(topics: readonly string[], options: Within, done: Done<readonly DescribedTopic[]>): unknown;
  listOffsets(partitions: readonly object[], options: Within, done: Done<readonly PartitionOffset[]>): unknown;
  listConsumerGroupOffsets(groups: readonly object[], options: Within, done: Done<readonly GroupOffsets[]>): unknown;
  disconnect(): unknown;
}

interface Within {
  readonly timeout: number;
}

export interface DescribedTopic {
  readonly name: string;
  readonly partitions: readonly unknown[];
  readonly error?: LibraryError | null;
}

export type PartitionOffset = PartitionId & { readonly offset: number };

export interface GroupOffsets {
  readonly partitions: readonly (PartitionId & { readonly offset?: number | null })[];
}
