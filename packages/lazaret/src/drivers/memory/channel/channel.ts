import { Alarm, type ServerClock } from '../server-clock.ts';
import type { ChannelQueue, Entry } from './channel-queue.ts';

interface Unacked {
  readonly queue: ChannelQueue;
  readonly entry: Entry;
  readonly sentAt: number;
  /** Whether it takes credit: what was asked for one by one does not. */
  readonly pushed: boolean;
}

export interface ChannelParts {
  readonly clock: ServerClock;
  readonly prefetch: number;
  /** How long a message may stay unacknowledged; infinity: for ever. */
  readonly timeoutMs: number;
  receive(tag: number, entry: Entry): void;
  /** The server closed the channel; everything on it went back. */
  closed(): void;
}

/** The server's side of one client's channel: what was sent on it and is not acknowledged yet. */
export class Channel {
  readonly #parts: ChannelParts;
  readonly #unacked = new Map<number, Unacked>();
  readonly #alarm: Alarm;
  #prefetch: number;
  #pushed = 0;
  #isOpen = true;
  #tag = 0;

  constructor(parts: ChannelParts) {
    this.#parts = parts;
    this.#prefetch = parts.prefetch;
    this.#alarm = new Alarm(parts.clock, () => this.#timedOut());
  }

  /** `false` once it was closed, by whom ever: nothing comes on it any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasRoom(): boolean {
    return this.#pushed < this.#prefetch;
  }

  set prefetch(n: number) {
    this.#prefetch = n;
  }

  send(queue: ChannelQueue, entry: Entry): void {
    this.#parts.receive(this.#track(queue, entry, true), entry);
  }

  get(queue: ChannelQueue): { readonly tag: number; readonly entry: Entry } | undefined {
    const entry = queue.get();
    return entry === undefined ? undefined : { tag: this.#track(queue, entry, false), entry };
  }

  ack(tag: number): void {
    this.#take(tag)?.queue.push();
  }

  /** Back to their places, counted; after `delayMs` to the end of the queue. */
  requeue(tags: readonly number[], delayMs: number = 0): void {
    const returning = new Map<ChannelQueue, Entry[]>();
    for (const tag of tags) {
      const unacked = this.#take(tag);
      if (unacked === undefined) continue;
      const entries = returning.get(unacked.queue);
      if (entries === undefined) returning.set(unacked.queue, [unacked.entry]);
      else entries.push(unacked.entry);
    }
    for (const [queue, entries] of returning) queue.putBack(entries, delayMs);
  }

  /** Everything that is not acknowledged goes back, whether it was looked at or not. */
  close(): void {
    this.#isOpen = false;
    this.#alarm.off();
    this.requeue([...this.#unacked.keys()]);
  }

  #track(queue: ChannelQueue, entry: Entry, pushed: boolean): number {
    const tag = ++this.#tag;
    this.#unacked.set(tag, { queue, entry, sentAt: this.#parts.clock.now(), pushed });
    if (pushed) this.#pushed++;
    this.#watchOldest();
    return tag;
  }

  #take(tag: number): Unacked | undefined {
    const unacked = this.#unacked.get(tag);
    if (unacked === undefined) return undefined;
    this.#unacked.delete(tag);
    if (unacked.pushed) this.#pushed--;
    this.#watchOldest();
    return unacked;
  }

  #watchOldest(): void {
    if (!this.#isOpen) return;
    const oldest = this.#unacked.values().next().value;
    this.#alarm.set(oldest === undefined ? undefined : oldest.sentAt + this.#parts.timeoutMs);
  }

  #timedOut(): void {
    this.#parts.closed();
  }
}
