import { Heap } from '../../../core/heap.ts';
import type { Message } from '../../../core/message.ts';
import type { QueueFacts } from '../../../ports/broker.ts';
import { Alarm, type ServerClock } from '../server-clock.ts';
import type { Channel } from './channel.ts';

/** One message in a queue. */
export interface Entry {
  /** Order of publication. */
  readonly sequence: number;
  /** Place in the queue; what comes back takes its old one. */
  readonly position: number;
  readonly message: Message;
  readonly publishedAt: number;
  /** How often it was sent to somebody and came back. */
  readonly returns: number;
}

interface Delayed {
  readonly dueAt: number;
  readonly entry: Entry;
}

/** Pushes to its consumers what they have credit for; what is not acknowledged comes back to its old place, counted. */
export class ChannelQueue {
  readonly name: string;
  readonly #clock: ServerClock;
  readonly #singleActive: boolean;
  readonly #ready = new Heap<Entry>((a, b) => a.position < b.position);
  /** The retry tiers: what waits there joins the end of the queue when it is due. */
  readonly #delayed = new Heap<Delayed>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.entry.sequence < b.entry.sequence),
  );
  readonly #consumers: Channel[] = [];
  readonly #watchers = new Set<(depth: number) => void>();
  readonly #alarm: Alarm;
  #sequence = 0;
  #position = 0;
  #isPushing = false;

  constructor(name: string, clock: ServerClock, singleActive: boolean) {
    this.name = name;
    this.#clock = clock;
    this.#singleActive = singleActive;
    this.#alarm = new Alarm(clock, () => this.push());
  }

  /** A copy may take the place of another: it stands where that one stood, and has come back as often. */
  publish(message: Message, delayMs: number, { position, returns }: Partial<Entry> = {}): void {
    const publishedAt = this.#clock.now();
    const entry: Entry = {
      sequence: ++this.#sequence,
      position: position ?? ++this.#position,
      message,
      publishedAt,
      returns: returns ?? 0,
    };
    if (delayMs > 0) this.#delayed.push({ dueAt: publishedAt + delayMs, entry });
    else this.#ready.push(entry);
    this.push();
  }

  consume(channel: Channel): void {
    this.#consumers.push(channel);
    this.push();
  }

  /** n.b. pushes nothing yet: with a single active consumer, what the old one holds has to be back before the next begins. */
  cancel(channel: Channel): void {
    const at = this.#consumers.indexOf(channel);
    if (at >= 0) this.#consumers.splice(at, 1);
  }

  /** What `get` would bring. */
  peek(): Entry | undefined {
    this.#ripen();
    return this.#ready.peek();
  }

  /** The next message, for one who asks instead of consuming. */
  get(): Entry | undefined {
    this.#ripen();
    const entry = this.#ready.pop();
    this.#tellDepth();
    return entry;
  }

  putBack(entries: readonly Entry[], delayMs: number): void {
    const dueAt = this.#clock.now() + delayMs;
    for (const entry of entries) {
      const returned = { ...entry, returns: entry.returns + 1 };
      if (delayMs > 0) this.#delayed.push({ dueAt, entry: returned });
      else this.#ready.push(returned);
    }
    this.push();
  }

  /** To the consumers in turn, or to the first alone. Consumers may publish and acknowledge while they receive. */
  push(): void {
    if (this.#isPushing) return;
    this.#isPushing = true;
    this.#ripen();
    while (this.#ready.size > 0) {
      const channel = this.#nextConsumer();
      if (channel === undefined) break;
      channel.send(this, this.#ready.pop()!);
    }
    this.#isPushing = false;
    const isWatched = this.#consumers.length > 0 || this.#watchers.size > 0;
    this.#alarm.set(isWatched ? this.#delayed.peek()?.dueAt : undefined);
    this.#tellDepth();
  }

  #nextConsumer(): Channel | undefined {
    if (this.#singleActive) return this.#consumers[0]?.hasRoom ? this.#consumers[0] : undefined;
    const at = this.#consumers.findIndex(({ hasRoom }) => hasRoom);
    if (at < 0) return undefined;
    const [channel] = this.#consumers.splice(at, 1);
    this.#consumers.push(channel!);
    return channel;
  }

  #ripen(): void {
    const now = this.#clock.now();
    for (let next = this.#delayed.peek(); next !== undefined && next.dueAt <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      this.#ready.push({ ...next.entry, position: ++this.#position });
    }
  }

  // --- looking ----------------------------------------------------------------------------------------------------

  /** Told at once and on every change how many messages are ready. */
  watchDepth(watcher: (depth: number) => void): void {
    this.#watchers.add(watcher);
    this.push();
  }

  unwatchDepth(watcher: (depth: number) => void): void {
    this.#watchers.delete(watcher);
    this.push();
  }

  #tellDepth(): void {
    for (const watcher of this.#watchers) watcher(this.#ready.size);
  }

  /** Whether a single active consumer would be this one. */
  isActive(consumer: Channel): boolean {
    return this.#consumers[0] === consumer;
  }

  holdsKey(key: string): boolean {
    return this.#ready.values().some(({ message }) => message.key === key);
  }

  /** What was sent and is not settled, and how old what is ready is, nobody can ask such a server. */
  facts(): QueueFacts {
    this.#ripen();
    return { ready: this.#ready.size, delayed: this.#delayed.size };
  }

  entries(): readonly Entry[] {
    const all = [...this.#ready.values(), ...this.#delayed.values().map(({ entry }) => entry)];
    return all.sort((a, b) => a.sequence - b.sequence);
  }
}
