import type { MemoryServer } from '../../drivers/memory/index.ts';
import type { Life } from './ledger.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Copies of each message in its dead-letter queue, read again when something has happened since. */
export class Letters {
  readonly #server: MemoryServer;
  readonly #time: VirtualTime;
  readonly #counts = new Map<string, Map<string, number>>();
  #readAt = -1;

  constructor(server: MemoryServer, time: VirtualTime) {
    this.#server = server;
    this.#time = time;
  }

  of({ id, queue }: Life): number {
    if (this.#readAt !== this.#time.happened) {
      this.#counts.clear();
      this.#readAt = this.#time.happened;
    }
    let counts = this.#counts.get(queue.name);
    if (counts === undefined) {
      counts = new Map();
      for (const { message } of this.#server.letters(queue.name)) {
        counts.set(message.id!, (counts.get(message.id!) ?? 0) + 1);
      }
      this.#counts.set(queue.name, counts);
    }
    return counts.get(id) ?? 0;
  }
}
