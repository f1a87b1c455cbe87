import type { Fault, Verb } from '../../drivers/memory/faults.ts';
import type { MemoryOptions } from '../../drivers/memory/options.ts';

/** Everything that a seed decides beforehand. Plain data, so that parts can be left out and the rest stays as it was. */
export interface Scenario {
  readonly seed: number;
  readonly server: MemoryOptions;
  /** Processes keep starts and failures in a store of their own, where the server does not remember them exactly. */
  readonly journal?: true;
  readonly queues: readonly QueuePlan[];
  /** Processes that consume every queue, each replaced when it ends. */
  readonly processes: number;
  /** Of each request and each answer; both 0: the driver answers at once. */
  readonly latencyMs: readonly [least: number, most: number];
  /** Timers fire up to so much late. */
  readonly latenessMs: number;
  /** Wall clocks are off by up to so much. */
  readonly skewMs: number;
  readonly waitMs: number;
  readonly messages: readonly MessagePlan[];
  readonly faults: readonly FaultPlan[];
  /** After it there are no more faults, and everything has to come to an end. */
  readonly quietAt: number;
}

export interface QueuePlan {
  readonly name: string;
  readonly ordering: 'none' | 'key';
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly backoffMs: readonly number[];
  readonly leaseMs: number;
  readonly heartbeat: boolean;
  readonly timeoutMs: number;
  /** Absent: one message at a time. */
  readonly batch?: { readonly size: number; readonly withinMs: number };
  readonly laneCap?: number;
}

export interface MessagePlan {
  /** Its id is made of it. */
  readonly index: number;
  readonly queue: number;
  readonly key: number | undefined;
  readonly sentAt: number;
  readonly delayMs: number;
  /** Sent again where the broker could not say what became of it. */
  readonly insistent: boolean;
  readonly deduped: boolean;
  readonly script: Script;
}

/** What the handler does with a message. What it does only so many times, it does on the first runs; then it works. */
export interface Script {
  readonly does: Deed;
  readonly times: number;
  readonly durationMs: number;
  /** Stops when its signal aborts. */
  readonly heeds: boolean;
  /** Asks for so much more time when half of its own is over. */
  readonly extendMs: number;
}

export type Deed =
  | 'work'
  | 'fail'
  | 'fail transiently'
  | 'ask for a retry'
  | 'poison'
  | 'quarantine'
  | 'skip'
  | 'crash'
  /** Never settles. */
  | 'hang'
  /** Ends well, but after its deadline. */
  | 'overrun';

export type FaultPlan = { readonly at: number } & (
  | { readonly kind: 'kill'; readonly slot: number; readonly downMs: number }
  | { readonly kind: 'stop'; readonly slot: number; readonly withinMs: number; readonly downMs: number }
  | { readonly kind: 'pause'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'cut'; readonly slot: number }
  /** Nothing gets through for a while, in either direction; then everything does. */
  | { readonly kind: 'stall'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'rebalance'; readonly queue: number }
  /** The next start of a process finds no server. */
  | { readonly kind: 'no connection' }
  /** The next request for a suspect fails. */
  | { readonly kind: 'alone fails' }
  /** The next call of `verb`, in its first `entries` entries. */
  | CallFault
);

export interface CallFault {
  readonly at: number;
  readonly kind: 'call';
  readonly verb: Verb;
  readonly fault: Exclude<Fault, Error> | 'error';
  readonly entries: number;
}

/** Where the server counts hand-outs only and there is no journal, that count is the best it can say of failures, and nobody remembers starts. */
export function countsHandOuts({ server, journal }: Pick<Scenario, 'server' | 'journal'>): boolean {
  return journal !== true && hasGhosts({ server });
}

/** A poll goes on at the server although nobody waits for it any more. */
export function hasGhosts({ server }: Pick<Scenario, 'server'>): boolean {
  return server.shape === 'table' && server.ghostPolls === true;
}
