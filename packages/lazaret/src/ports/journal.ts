import type { Delivery } from './broker.ts';

/**
 * Remembers starts, failures and ends where the hand-out itself cannot. Called in batches, once per loop turn.
 * A subscription's own journal learns ends from `settle`; `end` is called on journals that live elsewhere.
 */
export interface Journal {
  /** Same order as `starts`. A start is durable before this resolves. */
  begin(starts: readonly Start[]): Promise<readonly History[]>;
  end(ends: readonly End[]): Promise<void>;
  /** Says that `owner` lives: its open starts are busy, not strikes. */
  alive(owner: string, leaseMs: number): Promise<void>;
}

export interface Start {
  readonly delivery: Delivery;
  /** Nothing else of this process is started or unsettled. */
  readonly alone: boolean;
}

export interface History {
  /** Charged failures + 1. */
  readonly attempt: number;
  /** Starts without outcome whose owner is gone. */
  readonly strikes: number;
  /** `false`: not begun, because a living owner holds an open start, or because two strikes are begun only alone. */
  readonly begun: boolean;
  /** Already acked, retried or dead-lettered: a leftover, to be acked unrun. */
  readonly ended: boolean;
}

export interface End {
  readonly delivery: Delivery;
  readonly as: 'acked' | 'retried' | 'dead-lettered' | 'released';
}
