/**
 * What the driver asks of a Kafka client. Everything that knows watermarks, retries and due times stands on this side of it, so that
 * another client is one more file like `confluent.ts`. Failures are `KafkaFailure`s, never strings.
 */
export interface KafkaClient {
  /** Same order as `records`; each is confirmed by all replicas, or says why not. */
  send(records: readonly OutgoingRecord[]): Promise<readonly SendResult[]>;
  join(wanted: Membership): Promise<Member>;
  /** Partitions of each topic; absent where there is none. */
  partitionsOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>>;
  createTopic(topic: NewTopic): Promise<void>;
  /** Of every partition of these topics, as far as they exist. */
  lag(groupId: string, topics: readonly string[]): Promise<readonly PartitionLag[]>;
  close(): Promise<void>;
}

export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: RecordHeaders;
}

type RecordHeaders = readonly (readonly [name: string, value: string | Uint8Array])[];

export type SendResult = 'done' | KafkaFailure;

export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer])[];
}

export interface PartitionId {
  readonly topic: string;
  readonly partition: number;
}

export interface Position extends PartitionId {
  readonly offset: number;
  readonly metadata: string;
}

export interface Assigned extends PartitionId {
  /** Absent where nothing was committed: reading begins with the oldest record. */
  readonly offset: number | undefined;
  readonly metadata: string | undefined;
}

export interface Membership {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** Told before the first record of these partitions. */
  assigned(partitions: readonly Assigned[]): void;
  /**
   * In order: what is handed to `commit` is committed before anybody else owns them, `false` where that failed. Or they are lost, and
   * somebody else may own them already.
   */
  revoked(
    partitions: readonly PartitionId[],
    isLost: boolean,
    commit: (positions: readonly Position[]) => boolean,
  ): void;
  /** Something may be there to be polled for. */
  wake(): void;
  /** Goes wrong while the client goes on by itself. */
  trouble(failure: KafkaFailure): void;
}

/** One reader of a group. It is a member for as long as it is polled at least every five minutes. */
export interface Member {
  /** What is there now, at most `max`; it never waits for more. */
  poll(max: number): Promise<readonly KafkaRecord[]>;
  /** One at a time; resolves with the broker's answer. */
  commit(positions: readonly Position[]): Promise<'done' | KafkaFailure>;
  pause(partitions: readonly PartitionId[]): void;
  resume(partitions: readonly PartitionId[]): void;
  /** Commits nothing by itself. */
  leave(): Promise<void>;
}

export interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  /** -1: the broker's default. */
  readonly replication: number;
  readonly config: Readonly<Record<string, string>>;
}

export interface PartitionLag extends PartitionId {
  readonly begin: number;
  readonly end: number;
  /** Absent where the group committed nothing. */
  readonly committed: number | undefined;
}

/** The login or the certificates are refused; the client's own code for it. */
export const AUTHENTICATION = -169;

/** What answers does not speak Kafka, or too old a one. Nobody else has this code. */
export const NO_KAFKA = -10_000;

/** An error of the broker or of the client, by Kafka's number for it; negative ones are the client's own. */
export class KafkaFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KafkaFailure';
    this.code = code;
  }
}
