import type { Evidence } from '../../core/evidence.ts';
import type { Message, Native } from '../../core/message.ts';
import type { Broker } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';

/** A running server, and the driver that is examined against it. Opened anew for every case. */
export interface Harness {
  readonly system: System;
  /** A fresh client of the same server, as another process would be one. */
  broker(): Promise<Broker>;
  /** Its process dies without a word: nothing is closed, given back or answered. */
  kill(broker: Broker): Promise<void>;
  /** Cuts its connection so that it loses what it holds, while its process lives on. Absent where nothing is lost with a connection. */
  cut?(broker: Broker): Promise<void>;
  /** Lets time pass: a manual System is advanced, a real one waited for. 0 lets run what is ready. */
  pass(ms: number): Promise<void>;
  /** A fresh, empty queue, provisioned. */
  queue(options: QueueOptions): Promise<string>;
  /** The dead letters of `queue`, in any order. */
  letters(queue: string): Promise<readonly Letter[]>;
  /**
   * A short lease that suits the server: long against its answers, short against a test. Where there are no leases, as long
   * as the server needs at most to notice that a process is gone.
   */
  readonly leaseMs: number;
  /** Whoever joins may take over what others hold, as in a group that shares partitions. */
  readonly takesOver?: true;
  /** How long a `dedupeId` is remembered. Absent: the broker cannot. */
  readonly dedupeWindowMs?: number;
  /** An envelope that this driver accepts from a publisher. Absent: it has none. */
  readonly native?: Native;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** One that keeps the order of keys, where the driver has such. */
  readonly ordered: boolean;
  /** The delays that will be asked for, ascending, for brokers that have to know them beforehand. */
  readonly retryDelaysMs: readonly number[];
}

export interface Letter {
  readonly message: Message;
  /** As the driver wrote it; absent where none can be read. */
  readonly evidence?: Evidence;
}
