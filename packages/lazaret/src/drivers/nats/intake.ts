import { within } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { Inbox, Msg, NatsConnection } from './client.ts';
import { type Receipt, readReceipt } from './receipt.ts';
import { unanswered, unfit } from './refusals.ts';

/** What an intake takes from, and how long what it brings is ours. */
export interface Tap {
  readonly stream: string;
  readonly consumer: string;
  readonly leaseMs: number;
  /** How long a lease is kept up, unless it is extended. */
  readonly wantedMs: number;
  readonly waitMs: number;
  /** What the consumer allows one request. */
  readonly most: { readonly messages: number; readonly ms: number };
}

interface Waiting {
  readonly max: number;
  readonly endsAt: number;
  answer(): void;
}

/** The server's answers in the place of messages. */
const STATUS = { timeout: 408, none: 404 } as const;
const PENDING = 'Nats-Pending-Messages';
/** A request that the server refuses is repeated after so long. */
const PAUSE_MS = 250;
/** A request that was not answered so long after its end is gone. */
const LATE_MS = 500;
const DRAIN_WITHIN_MS = 1_000;
/** Trouble that lasts longer is told to whoever pulls. */
const PATIENCE_MS = 5_000;

/** Asks for messages, never for more than is wanted, and keeps what comes until it is taken. */
export class Intake {
  readonly #connection: NatsConnection;
  readonly #system: System;
  readonly #tap: Tap;
  readonly #newInbox: () => string;
  readonly #waiting = new Set<Waiting>();
  #buffer: Receipt[] = [];
  #inbox: Inbox | undefined;
  #inboxName = '';
  /** How many the server may still send, and until when. */
  #asked = 0;
  #askedUntil = 0;
  #isWaking = false;
  #isAway = false;
  #isPausing = false;
  #troubleSince: number | undefined;
  #trouble: Error | undefined;
  #giveBackTimer: (() => void) | undefined;
  readonly #giveBack: (receipts: readonly Receipt[]) => void;

  constructor(
    connection: NatsConnection,
    system: System,
    tap: Tap,
    newInbox: () => string,
    giveBack: (receipts: readonly Receipt[]) => void,
  ) {
    this.#connection = connection;
    this.#system = system;
    this.#tap = tap;
    this.#newInbox = newInbox;
    this.#giveBack = giveBack;
  }

  /** At most `max`; `[]` after the wait. Rejects with what stands in the way where that lasts. */
  async pull(max: number, signal: AbortSignal): Promise<readonly Receipt[]> {
    if (signal.aborted || max < 1) return [];
    const now = this.#system.monotonic();
    const taken = this.#take(max, now);
    // n.b. what is still missing is on its way while the first are at work.
    if (taken.length < max) this.#ask(max - taken.length, now, now + this.#tap.waitMs);
    if (taken.length > 0) return taken;
    await this.#wait(max, now + this.#tap.waitMs, signal);
    const brought = this.#take(max, this.#system.monotonic());
    if (brought.length === 0 && !signal.aborted) this.#complain();
    return brought;
  }

  #wait(max: number, endsAt: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        max,
        endsAt,
        answer: () => {
          cancel();
          signal.removeEventListener('abort', stop);
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      const stop = () => void this.#askNoMore().then(waiting.answer);
      const cancel = this.#system.after(endsAt - this.#system.monotonic(), waiting.answer);
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #complain(): void {
    if (this.#troubleSince === undefined || this.#system.monotonic() - this.#troubleSince < PATIENCE_MS) return;
    throw this.#trouble ?? unanswered('a request for messages');
  }

  // --- asking -----------------------------------------------------------------------------------------------------------

  #ask(max: number, now: number, until: number): void {
    if (this.#isAway || this.#isPausing) return;
    if (now > this.#askedUntil + LATE_MS) this.#asked = 0;
    const { stream, consumer, most } = this.#tap;
    const batch = Math.min(max - this.#asked, most.messages);
    const leftMs = Math.min(until - now, most.ms);
    if (batch <= 0 || leftMs < 1) return;
    this.#inbox ??= this.#open();
    this.#asked += batch;
    this.#askedUntil = Math.max(this.#askedUntil, now + leftMs);
    const request = `{"batch":${batch},"expires":${Math.floor(leftMs) * 1_000_000}}`;
    this.#connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: this.#inboxName });
  }

  #open(): Inbox {
    this.#inboxName = this.#newInbox();
    return this.#connection.subscribe(this.#inboxName, {
      callback: (error, message) => {
        if (error !== null)
          this.#refused(unfit(`NATS refuses to deliver: ${error.message}`, 'Give the user the rights to its inbox.'));
        else this.#arrived(message);
      },
    });
  }

  /** The server drops its requests when nobody listens; what it sent before comes in front of its answer. */
  async #askNoMore(): Promise<void> {
    const inbox = this.#inbox;
    this.#inbox = undefined;
    this.#asked = 0;
    this.#askAgain();
    if (inbox === undefined || this.#isAway) return;
    const draining = inbox.drain();
    await within(this.#system, DRAIN_WITHIN_MS, draining, () => unanswered('the end of a request')).catch(
      () => undefined,
    );
  }

  /** For pulls that still wait and whose request is gone. */
  #askAgain(): void {
    if (this.#waiting.size === 0) return;
    const now = this.#system.monotonic();
    let wanted = -this.#buffer.length;
    let until = 0;
    for (const { max, endsAt } of this.#waiting) {
      wanted += max;
      until = Math.max(until, endsAt);
    }
    if (wanted > 0) this.#ask(wanted, now, until);
  }

  // --- what comes -------------------------------------------------------------------------------------------------------

  #arrived(message: Msg): void {
    const { leaseMs, wantedMs } = this.#tap;
    const receipt = readReceipt(message, this.#system.monotonic(), leaseMs, wantedMs);
    if (receipt === undefined) {
      this.#answered(message);
      return;
    }
    this.#asked = Math.max(0, this.#asked - 1);
    this.#troubleSince = undefined;
    this.#buffer.push(receipt);
    if (this.#isWaking) return;
    this.#isWaking = true;
    queueMicrotask(() => this.#wake());
  }

  /** Once all that has arrived with it is in. */
  #wake(): void {
    this.#isWaking = false;
    let room = this.#buffer.length;
    for (const waiting of [...this.#waiting]) {
      if (room <= 0) return;
      room -= waiting.max;
      waiting.answer();
    }
    if (room > 0) this.#giveBackTimer ??= this.#system.after(this.#tap.leaseMs / 4, () => this.#giveBackOld());
  }

  #answered(message: Msg): void {
    const { headers } = message;
    const code = headers?.code ?? 0;
    if (code < 400) return;
    const left = Number(headers!.get(PENDING));
    this.#asked = left >= 1 ? Math.max(0, this.#asked - left) : 0;
    if (code === STATUS.timeout || code === STATUS.none) {
      this.#troubleSince = undefined;
      this.#askAgain();
      return;
    }
    const { stream, consumer } = this.#tap;
    const what = headers!.description || 'nobody answers for it';
    this.#refused(
      unfit(`NATS delivers nothing of consumer '${consumer}' of stream '${stream}': ${what}`, 'Provision it anew.'),
    );
  }

  #refused(trouble: Error): void {
    this.#trouble = trouble;
    this.#troubleSince ??= this.#system.monotonic();
    if (this.#isPausing) return;
    this.#isPausing = true;
    this.#system.after(PAUSE_MS, () => {
      this.#isPausing = false;
      this.#askAgain();
    });
  }

  // --- what is kept -----------------------------------------------------------------------------------------------------

  #take(max: number, now: number): readonly Receipt[] {
    if (this.#buffer.length === 0) return [];
    const fresh = this.#buffer.splice(0, max).filter(({ leaseEndsAt }) => leaseEndsAt > now);
    return fresh;
  }

  /** Nobody asked for them in time: others may. */
  #giveBackOld(): void {
    this.#giveBackTimer = undefined;
    if (this.#buffer.length > 0) this.#giveBack(this.#buffer.splice(0));
  }

  // --- the connection ---------------------------------------------------------------------------------------------------

  /** Requests end with their connection; what came before is still ours. */
  down(why: Error): void {
    this.#isAway = true;
    this.#asked = 0;
    this.#trouble = why;
    this.#troubleSince ??= this.#system.monotonic();
  }

  up(): void {
    this.#isAway = false;
    this.#troubleSince = undefined;
    this.#askAgain();
  }

  /** Ends what waits, and returns what nobody took. */
  async close(): Promise<readonly Receipt[]> {
    this.#giveBackTimer?.();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    await this.#askNoMore();
    const left = this.#buffer.splice(0);
    for (const { answer } of waiting) answer();
    return left;
  }
}
