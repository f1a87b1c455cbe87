import type { Capabilities } from '../../ports/capabilities.ts';
import type { System } from '../../ports/system.ts';

/** Which family of brokers it behaves like: rows with leases, channels with pushes, or logs with positions. */
export type MemoryOptions = TableOptions | ChannelOptions | LogOptions;

export type MemoryServerOptions = MemoryOptions & { readonly system: System };

interface CommonOptions {
  /** 'required': a queue that was not provisioned is refused, as RabbitMQ and Kafka do. Default 'automatic'. */
  readonly declare?: 'automatic' | 'required';
  /** Within it a second message with the same `dedupeId` is not stored. Default 5 minutes. */
  readonly dedupeWindowMs?: number;
  /** How long a client needs to come back after its connection was cut. Default 100. */
  readonly reconnectMs?: number;
  /** Tighter promises than the shape's own; they are kept, and what goes beyond them is refused. */
  readonly limits?: Partial<Limits>;
}

type Limits = Pick<Capabilities, 'maxDelayMs' | 'delayGrainMs' | 'maxPublishDelayMs' | 'headerBudgetBytes'>;

/** Like SQLite and PostgreSQL; with `ghostPolls` like SQS. */
export interface TableOptions extends CommonOptions {
  readonly shape?: 'table';
  /**
   * A pull goes on at the server although its process is gone, and leases a message to nobody. The server then counts
   * hand-outs only: failures and starts need a journal. Default false.
   */
  readonly ghostPolls?: boolean;
  /** A delivery can be hidden at most so long after its hand-out (SQS: 12 h). Default: no limit. */
  readonly hideCapMs?: number;
  /** So many messages can be leased at once; beyond it nothing is handed out. Default: no limit. */
  readonly inFlightLimit?: number;
}

/** Like RabbitMQ: pushes with credit, no leases, a copy per retry, and a lane for suspects. */
export interface ChannelOptions extends CommonOptions {
  readonly shape: 'channel';
  /** One consumer at a time, and messages of a key in order. Default false. */
  readonly singleActive?: boolean;
  /** What giving back does: 'hold', it counts at once and goes by copy for later; 'counted', it always counts. Default 'hold'. */
  readonly release?: 'hold' | 'counted';
  /** A message that is not settled so long after it was sent closes its channel; all of the channel's messages come back. Default: never. */
  readonly consumerTimeoutMs?: number;
}

/** Like Kafka: partitions, a watermark, starts and completions in one commit, retries by copy. */
export interface LogOptions extends CommonOptions {
  readonly shape: 'log';
  /** Default 4. */
  readonly partitions?: number;
  /** A member that is not heard of for so long loses its partitions. Default 10 s. */
  readonly sessionMs?: number;
}

export const DEDUPE_WINDOW_MS = 300_000;
export const RECONNECT_MS = 100;
export const PARTITIONS = 4;
export const SESSION_MS = 10_000;
