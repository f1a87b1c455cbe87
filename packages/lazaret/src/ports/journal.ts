import type { Ending, History } from '../core/journal.ts';
import type { Delivery } from './broker.ts';

export type { Ending, History } from '../core/journal.ts';

/**
 * Remembers starts, failures and ends where the hand-out itself cannot. Called in batches, once per loop turn.
 * A subscription's own journal learns ends from `settle`; `end` is called on journals that live in a store.
 */
export interface Journal {
  /** Same order as `starts`. A start is durable before this resolves; where it rejects, none of them may run. */
  begin(starts: readonly Start[]): Promise<readonly History[]>;
  /** Ends that come too late, since somebody else began meanwhile, change nothing. Saying one twice neither. */
  end(ends: readonly End[]): Promise<void>;
  /** Says that `owner` lives for `leaseMs` from now, by the store's clock: its open starts are busy, not strikes. 0: it has gone, and left none. */
  alive(owner: string, leaseMs: number): Promise<void>;
}

export interface Start {
  readonly delivery: Delivery;
  /** Nothing else of this process is started or unsettled. */
  readonly alone: boolean;
  /** This process has the message open already, under the same id: it is busy, not lost. */
  readonly open?: true;
}

export interface End {
  readonly delivery: Delivery;
  /** As the start's history gave it; absent where it was never begun. */
  readonly token?: number;
  /** Charged are 'retried' (the copy carries it) and 'charged' (only the journal knows it). */
  readonly as: Ending;
}
