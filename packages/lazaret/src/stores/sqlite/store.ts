import { beginStart, endStart, type JournalRecord, sightOf } from '../../core/journal.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { End, History, Journal, Start } from '../../ports/journal.ts';
import type { Store } from '../../ports/store.ts';
import type { Cancel, System } from '../../ports/system.ts';
import { type OpenDatabase, openDatabase } from '../../sqlite/open.ts';
import { promised, Writer } from '../../sqlite/writer.ts';
import type { SqliteStoreSettings } from './options.ts';
import { Records } from './records.ts';
import { JOURNAL } from './schema.ts';

const FIRST_PRUNE_MS = 60_000;
const PRUNE_EVERY_MS = 3_600_000;

export async function openStore(settings: SqliteStoreSettings, system: System): Promise<SqliteStore> {
  return new SqliteStore(await openDatabase(settings, system, JOURNAL), settings, system);
}

/**
 * A store in a file, for the processes of one host. Its clock is this host's. Nothing of it is synced to the disk one by one: what a power
 * cut takes back is a start or an end of its last moments, and costs a strike less, or a message that runs twice.
 */
export class SqliteStore implements Store {
  readonly name = 'sqlite';
  readonly #open: OpenDatabase;
  readonly #records: Records;
  readonly #writer: Writer;
  readonly #system: System;
  readonly #retentionMs: number;
  #pruning: Cancel;
  #closed = false;

  constructor(open: OpenDatabase, { lockTimeoutMs, retentionMs }: SqliteStoreSettings, system: System) {
    this.#open = open;
    this.#records = new Records(open.db);
    this.#writer = new Writer(open.db, open.file, system, lockTimeoutMs, { committed: () => undefined });
    this.#system = system;
    this.#retentionMs = retentionMs;
    this.#pruning = system.after(FIRST_PRUNE_MS, this.#prune);
  }

  journal(owner: string, group: string | undefined): Journal {
    const queueOf = ({ source }: Delivery) =>
      group === undefined ? source.queue : JSON.stringify([source.queue, group]);
    return {
      begin: (starts) => this.#begin(starts, owner, queueOf),
      end: (ends) => this.#end(ends, owner, queueOf),
      alive: (living, leaseMs) => this.#alive(living, leaseMs),
    };
  }

  async #begin(
    starts: readonly Start[],
    owner: string,
    queueOf: (delivery: Delivery) => string,
  ): Promise<readonly History[]> {
    let histories: History[] = [];
    await this.#write(() => {
      const now = this.#system.now();
      histories = starts.map(({ delivery, alone, open }) => {
        const start = { ...sightOf(delivery.message.headers, delivery.deliveries), owner, alone, open: open === true };
        const queue = queueOf(delivery);
        const before = this.#records.find(queue, delivery.message.id!);
        const { record, history } = beginStart(before, start, (other) => this.#records.isAlive(other, now));
        this.#put(queue, delivery, before, record, now);
        return history;
      });
    });
    return histories;
  }

  async #end(ends: readonly End[], owner: string, queueOf: (delivery: Delivery) => string): Promise<void> {
    await this.#write(() => {
      const now = this.#system.now();
      for (const { delivery, token, as } of ends) {
        const end = { ...sightOf(delivery.message.headers, delivery.deliveries), owner, token, as };
        const queue = queueOf(delivery);
        const before = this.#records.find(queue, delivery.message.id!);
        const record = endStart(before, end, (other) => this.#records.isAlive(other, now));
        this.#put(queue, delivery, before, record, now);
      }
    });
  }

  #put(
    queue: string,
    { message }: Delivery,
    before: JournalRecord | undefined,
    record: JournalRecord | undefined,
    now: number,
  ): void {
    if (record !== undefined && record !== before) this.#records.put(queue, message.id!, record, now);
  }

  async #alive(owner: string, leaseMs: number): Promise<void> {
    await this.#write(() => {
      if (leaseMs > 0) this.#records.live(owner, this.#system.now() + leaseMs);
      else this.#records.bury(owner);
    });
  }

  /** All of `apply` in one transaction, with what else is asked for in the same turn; rejects where none of it was written. */
  async #write(apply: () => void): Promise<void> {
    let failure: Error | undefined;
    await promised<void>((answer) =>
      this.#writer.submit({
        kind: 'write',
        durable: false,
        size: 1,
        apply,
        fail: (_from, _to, error) => {
          failure = error;
        },
        finish: () => answer(),
      }),
    );
    if (failure !== undefined) throw failure;
  }

  /** In short transactions, with turns for others in between. Nobody asked for it: what fails is tried in the next round. */
  readonly #prune = (): void => {
    let removed = 0;
    const pruned = this.#write(() => {
      const now = this.#system.now();
      removed = this.#records.prune(now - this.#retentionMs);
      // n.b. an owner that is not found is gone as well.
      this.#records.buryOld(now - this.#retentionMs);
    });
    void pruned
      .catch(() => undefined)
      .then(() => {
        if (!this.#closed) this.#pruning = this.#system.after(removed === 0 ? PRUNE_EVERY_MS : 0, this.#prune);
      });
  };

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pruning();
    this.#writer.end();
    if (this.#open.own) this.#open.db.close();
  }
}
