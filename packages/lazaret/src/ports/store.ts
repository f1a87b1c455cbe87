import type { Journal } from './journal.ts';
import type { System } from './system.ts';

/** What stands where an app takes a store: a name, and how to reach it. */
export interface StoreDriver {
  readonly name: string;
  connect(system: System): Promise<Store>;
}

/** What an app keeps beside its broker. The rules are the core's: a store reads, asks them, and writes, in one transaction. */
export interface Store {
  readonly name: string;
  /** The journal as `owner` writes it: a process that lives. `group` is part of the names of its queues. */
  journal(owner: string, group: string | undefined): Journal;
  close(): Promise<void>;
}
