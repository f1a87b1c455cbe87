import { within } from '../../core/within.ts';
import type { Cancel, System } from '../../ports/system.ts';
import type { AmqpConnection, AmqpMessage } from './amqplib.ts';
import { Arrival } from './arrival.ts';
import { closeQuietly, type OpenChannel, openChannel } from './channel.ts';
import type { Link, LinkUser } from './link.ts';
import { acks, requeues } from './wire/frames.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const CLOSE_WITHIN_MS = 2_000;

/** What a consumer tells. */
export interface Front {
  arrive(arrival: Arrival): void;
  /** Everything that came on the channel is back at the server. */
  gone(): void;
}

/** One queue's channel with its consumer, opened anew whenever the server, the connection or somebody else ended it. */
export class Consumer implements LinkUser {
  readonly #system: System;
  readonly #link: Link;
  readonly #queue: string;
  readonly #front: Front;
  #prefetch: number;
  #channel: OpenChannel | undefined;
  #consumerTag: string | undefined;
  #reopening: Cancel | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isEnded = false;
  /** Why it could not be opened anew, until somebody asks. */
  #trouble: Error | undefined;

  constructor(system: System, link: Link, queue: string, prefetch: number, front: Front) {
    this.#system = system;
    this.#link = link;
    this.#queue = queue;
    this.#prefetch = prefetch;
    this.#front = front;
  }

  // --- its life ---------------------------------------------------------------------------------------------------------

  /** Rejects with what the server said. From then on it comes back by itself. */
  async begin(connection: AmqpConnection): Promise<void> {
    await this.#open(connection);
    this.#link.attach(this);
    // n.b. the connection may have gone in the meantime, before there was anybody to tell.
    if (this.#link.connection !== connection) this.down();
  }

  async up(connection: AmqpConnection): Promise<void> {
    await this.#tryToOpen(connection);
  }

  down(): void {
    this.#reopening?.();
    this.#leave();
  }

  get channel(): OpenChannel | undefined {
    return this.#channel;
  }

  takeTrouble(): Error | undefined {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    return trouble;
  }

  /** What was acknowledged has arrived when this resolves, and everything else is back. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#reopening?.();
    this.#link.detach(this);
    const open = this.#channel;
    this.#channel = undefined;
    if (open?.isOpen !== true) return;
    open.forsake();
    const closing = Promise.resolve().then(() => open.channel.close());
    await within(this.#system, CLOSE_WITHIN_MS, closing, () => new Error('no answer')).catch(() => undefined);
  }

  async #open(connection: AmqpConnection): Promise<void> {
    const open = await openChannel(this.#system, connection);
    open.onEnd(() => this.#closed(open));
    this.#channel = open;
    try {
      if (this.#prefetch > 0) await this.#consume(open);
    } catch (error) {
      if (this.#channel === open) this.#channel = undefined;
      closeQuietly(open.channel);
      throw error;
    }
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#trouble = undefined;
  }

  async #tryToOpen(connection: AmqpConnection): Promise<void> {
    try {
      await this.#open(connection);
    } catch (error) {
      this.#trouble = error as Error;
      this.#openLater();
    }
  }

  #openLater(): void {
    if (this.#isEnded) return;
    this.#reopening?.();
    this.#reopening = this.#system.after(this.#pauseMs * (0.5 + this.#system.random()), () => {
      const { connection } = this.#link;
      if (connection !== undefined && this.#channel === undefined && !this.#isEnded) void this.#tryToOpen(connection);
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #closed(open: OpenChannel): void {
    if (open !== this.#channel) return;
    this.#leave();
    this.#openLater();
  }

  #leave(): void {
    this.#channel?.forsake();
    this.#channel = undefined;
    this.#consumerTag = undefined;
    this.#front.gone();
  }

  // --- what comes -------------------------------------------------------------------------------------------------------

  async #consume(open: OpenChannel): Promise<void> {
    await open.channel.prefetch(this.#prefetch);
    const arrive = (message: AmqpMessage | null) => this.#arrive(open, message);
    this.#consumerTag = (await open.channel.consume(this.#queue, arrive, { noAck: false })).consumerTag;
  }

  #arrive(open: OpenChannel, message: AmqpMessage | null): void {
    if (open !== this.#channel) return;
    if (message !== null) {
      this.#front.arrive(new Arrival(open, message, false, this.#system.monotonic()));
      return;
    }
    // The server has cancelled it: the queue is gone, or (from 4.3) a message was not settled in time and all of them are given to others.
    closeQuietly(open.channel);
    this.#closed(open);
  }

  /** One message of `queue`, as one asks for it; `undefined` when there is none. */
  async fetch(queue: string): Promise<Arrival | undefined> {
    const open = this.#channel;
    if (open === undefined) return undefined;
    try {
      const message = await open.channel.get(queue, { noAck: false });
      return message === false ? undefined : new Arrival(open, message, true, this.#system.monotonic());
    } catch (error) {
      if (!open.isOpen) return undefined;
      throw error;
    }
  }

  // --- what goes --------------------------------------------------------------------------------------------------------

  /** Of this channel, all of them. n.b. one that is not would end the channel, with everything on it. */
  ack(tags: readonly number[]): void {
    if (tags.length > 0) this.#write(acks(this.#channel!.channel.ch, tags));
  }

  requeue(tags: readonly number[]): void {
    if (tags.length > 0) this.#write(requeues(this.#channel!.channel.ch, tags));
  }

  #write(frames: Buffer): void {
    this.#channel!.connection.connection.stream.write(frames);
  }

  /** A credit counts for new consumers only: the next one begins before the old one ends, whose messages stay ours. */
  async credit(n: number): Promise<void> {
    this.#prefetch = n;
    const open = this.#channel;
    const old = this.#consumerTag;
    if (open === undefined) return;
    if (n > 0) await this.#consume(open);
    else this.#consumerTag = undefined;
    if (old !== undefined) await open.channel.cancel(old);
  }
}
