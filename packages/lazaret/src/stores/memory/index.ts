import { beginStart, endStart, type JournalRecord, sightOf } from '../../core/journal.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { End, History, Journal, Start } from '../../ports/journal.ts';
import type { Store, StoreDriver } from '../../ports/store.ts';
import type { System } from '../../ports/system.ts';

const DAY_MS = 24 * 3_600_000;
/** How long a record is kept after it was last written: longer than any broker redelivers. */
const RETENTION_MS = 30 * DAY_MS;
/** Old records that one batch forgets. */
const FORGOTTEN_AT_ONCE = 100;

/** A store in this process, for tests: everything that connects to one of them shares it, and it ends with the process. */
export function memoryStore(): StoreDriver {
  const shelf = new Shelf();
  return { name: 'memory', connect: async (system) => new MemoryStore(shelf, system) };
}

/** Its clock is that of whoever connects first. */
class Shelf {
  /** In the order in which they were last written. */
  readonly records = new Map<string, { readonly record: JournalRecord; readonly writtenAt: number }>();
  readonly aliveUntil = new Map<string, number>();
  #system: System | undefined;

  tellTime(system: System): void {
    this.#system ??= system;
  }

  get now(): number {
    return this.#system!.monotonic();
  }

  readonly isAlive = (owner: string): boolean => (this.aliveUntil.get(owner) ?? 0) > this.now;

  write(key: string, before: JournalRecord | undefined, record: JournalRecord | undefined): void {
    if (record === undefined || record === before) return;
    this.records.delete(key);
    this.records.set(key, { record, writtenAt: this.now });
  }

  forgetOld(): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const [key, { writtenAt }] of this.records) {
      if (writtenAt > this.now - RETENTION_MS || left-- === 0) return;
      this.records.delete(key);
    }
  }
}

class MemoryStore implements Store {
  readonly name = 'memory';
  readonly #shelf: Shelf;

  constructor(shelf: Shelf, system: System) {
    this.#shelf = shelf;
    shelf.tellTime(system);
  }

  journal(owner: string, group: string | undefined): Journal {
    const shelf = this.#shelf;
    const keyOf = ({ source, message }: Delivery) => JSON.stringify([group ?? null, source.queue, message.id]);

    const begin = ({ delivery, alone, open }: Start): History => {
      const key = keyOf(delivery);
      const before = shelf.records.get(key)?.record;
      const sight = sightOf(delivery.message.headers, delivery.deliveries);
      const { record, history } = beginStart(before, { ...sight, owner, alone, open: open === true }, shelf.isAlive);
      shelf.write(key, before, record);
      return history;
    };

    const end = ({ delivery, token, as }: End): void => {
      const key = keyOf(delivery);
      const before = shelf.records.get(key)?.record;
      const sight = sightOf(delivery.message.headers, delivery.deliveries);
      shelf.write(key, before, endStart(before, { ...sight, owner, token, as }, shelf.isAlive));
    };

    return {
      async begin(starts) {
        shelf.forgetOld();
        return starts.map(begin);
      },
      async end(ends) {
        for (const one of ends) end(one);
      },
      async alive(living, leaseMs) {
        if (leaseMs > 0) shelf.aliveUntil.set(living, shelf.now + leaseMs);
        else shelf.aliveUntil.delete(living);
      },
    };
  }

  async close(): Promise<void> {}
}
