import type { Evidence } from '../core/evidence.ts';
import type { HeaderList, Message, Native } from '../core/message.ts';
import type { Capabilities } from './capabilities.ts';
import type { Journal } from './journal.ts';
import type { SharedState } from './shared-state.ts';
import type { System } from './system.ts';

/** What stands where an app takes a broker: a name, and how to reach it. */
export interface Driver {
  readonly name: string;
  connect(system: System): Promise<Broker>;
}

/** What a driver implements. Drivers translate; they never decide. */
export interface Broker {
  readonly name: string;
  /** Where the broker is a store itself: what the processes of a queue share. */
  readonly shared?: SharedState;
  /** Errors of name, rights and arguments are thrown by the first subscribe; later ones are patience and an event. */
  subscribe(queue: string, options: SubscribeOptions): Promise<Subscription>;
  /** For those who only publish; a subscription has its own. */
  capabilities(queue: string): Promise<Capabilities>;
  /** One result per message, in the same order; one failure harms no neighbour. Durable when 'done'. */
  publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options?: PublishOptions,
  ): Promise<readonly PublishResult[]>;
  /** What can't be known is absent, not zero; what is estimated says so. */
  inspect(queue: string): Promise<QueueFacts>;
  /** Looks without consuming or counting, oldest first; `from` is a cursor that an earlier page gave. */
  browse?(queue: string, from: string | undefined, max: number): Promise<Page<Message>>;
  /** A plan; `apply` is a second call and resolves when what it created is safe to publish to. */
  provision(queue: string, wanted: QueueWanted): Promise<ProvisionPlan>;
  close(): Promise<void>;
}

/** A queue, or where RabbitMQ's topologies want it an exchange and a routing key. */
export type Address = string | { readonly exchange: string; readonly routingKey: string };

export interface OutgoingMessage {
  readonly id?: string;
  readonly key?: string;
  readonly body: Uint8Array | null;
  readonly headers?: HeaderList;
  readonly native?: Native;
  /** Where the broker can: a second message with it inside the broker's window is not stored, and answers 'done'. */
  readonly dedupeId?: string;
}

export interface PublishOptions {
  readonly delayMs?: number;
}

/** 'unknown': the confirm was lost. A copy of ours is sent again with its id; a caller is told. */
export type PublishResult = 'done' | 'refused' | 'unroutable' | 'unknown' | Error;

export interface SubscribeOptions {
  readonly group?: string;
  readonly prefetch: number;
  readonly leaseMs: number;
  /** How long a pull of an empty queue may wait; below the stop budget. */
  readonly waitMs: number;
  /** 'key': a message is handed out only when no earlier one of its key is leased, waiting or blocked. */
  readonly order: 'none' | 'key';
  /** Attempts are clamped to it when read from a message. */
  readonly maxAttempts: number;
  /** The dead-letter queue's name, where it is not the driver's default. */
  readonly deadLetter?: string;
  /** The delays that the policy can ask for and that nobody will hold, ascending; brokers with retry tiers have theirs before they hand anything out. */
  readonly retryDelaysMs?: readonly number[];
  /** Names what was handed out and is no longer ours; told at once, before any settle of it fails. */
  lost(deliveries: readonly Delivery[]): void;
  /** How many suspects wait to run alone; told on change. */
  suspects(waiting: number): void;
}

export interface Subscription {
  /** Of this queue: FIFO and standard, quorum and classic differ. */
  readonly capabilities: Capabilities;
  /** Where the broker itself can carry starts. */
  readonly journal?: Journal;
  /**
   * At most `max`; `[]` on timeout. The signal means: ask no more. A request that may already hold messages is not cut,
   * and what it brings is returned. Push brokers take from their credit buffer and answer `[]` at once after the signal.
   */
  pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]>;
  /** Same order; one failure harms no neighbour. Called in the same turn as `pull` and `begin`, so that a driver may fuse them. */
  settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]>;
  /** Leases count from now; where there are none it only answers whether the delivery is still ours. */
  extend(batch: readonly Extension[]): Promise<readonly SettleResult[]>;
  /** One suspect, asked for only while nothing of this process is started or unsettled. `undefined` when none waits. */
  alone?(signal: AbortSignal): Promise<Delivery | undefined>;
  /** Push brokers: at most once a second and only for a change of 2x; 0 cancels and hands back what was not handed out. */
  credit?(n: number): Promise<void>;
  /** Waits for outstanding pulls, gives back what was never handed out, and makes sure the last acks arrived. */
  close(): Promise<void>;
}

/** One hand-out of a message to us. Plain data: no methods, no closures. `receipt` belongs to the driver. */
export interface Delivery {
  readonly message: Message;
  readonly source: Source;
  readonly receipt: unknown;
  /** Charged failures + 1; with a journal provisional until `begin`. */
  readonly attempt: number;
  /** Starts whose owner vanished, where known at pull. */
  readonly strikes?: number;
  /** The broker's own count: evidence only. */
  readonly deliveries?: number;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly notBefore?: number;
  /** What is left of the lease at the hand-out. */
  readonly leaseMs?: number;
  /** The broker can't hide this delivery beyond it (epoch milliseconds); what is longer is staged. */
  readonly delayCapAt?: number;
  /** An earlier message of its key lies in the dead-letter queue. */
  readonly blocked?: true;
}

/** Where a message was first consumed from. `position` is the driver's text (partition and offset, row), for logs and evidence. */
export interface Source {
  readonly queue: string;
  readonly position?: string;
}

export type Settlement = { readonly delivery: Delivery } & (
  | { readonly verb: 'ack' }
  /** Charged. `notBefore` (epoch milliseconds) is written to the message when the delay is only a stage of a longer one. */
  | { readonly verb: 'retry'; readonly delayMs: number; readonly notBefore?: number }
  /** Not charged, and no strike. */
  | { readonly verb: 'release'; readonly delayMs: number; readonly notBefore?: number }
  /** Stays leased and runs again here; said so that a charge is recorded where a journal can. */
  | { readonly verb: 'hold'; readonly delayMs: number; readonly charged: boolean }
  | { readonly verb: 'deadLetter'; readonly evidence: Evidence }
);

export interface Extension {
  readonly delivery: Delivery;
  readonly leaseMs: number;
}

/** A driver retries what is retriable while the delivery is its own. Error: the runtime settles again. 'lost' never triggers a second effect. */
export type SettleResult = 'done' | 'lost' | Error;

export interface QueueFacts {
  readonly ready?: number;
  readonly delayed?: number;
  readonly leased?: number;
  readonly dead?: number;
  /** Epoch milliseconds of the oldest message that is ready. */
  readonly oldestAt?: number;
  readonly approximate?: true;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; absent on the last one. */
  readonly next?: string;
}

export interface QueueWanted {
  readonly deadLetter?: string;
  readonly ordered?: boolean;
  /** The delays that the policy can ask for, ascending; brokers with retry tiers derive theirs from it. */
  readonly retryDelaysMs?: readonly number[];
}

export interface ProvisionPlan {
  readonly steps: readonly ProvisionStep[];
  apply(): Promise<void>;
}

export interface ProvisionStep {
  /** 'conflict' is never applied: what exists differs, and it is not ours to delete. */
  readonly action: 'create' | 'change' | 'conflict' | 'unsupported';
  readonly what: string;
  readonly why: string;
}
