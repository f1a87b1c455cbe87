import { LazaretError } from '../../core/errors.ts';
import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { Row } from '../../sqlite/binding.ts';
import { explained } from '../../sqlite/errors.ts';
import { promised, type Writer } from '../../sqlite/writer.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { Claims } from './claim.ts';
import { type HandOut, toDelivery } from './deliver.ts';
import type { Settling } from './settle.ts';
import type { Suspects } from './suspects.ts';
import type { WakeUp } from './wake-up.ts';

/** What a subscription needs of its broker. */
export interface Parts {
  readonly file: string;
  readonly system: System;
  readonly writer: Writer;
  readonly claims: Claims;
  readonly settling: Settling;
  readonly wakeUp: WakeUp;
  /** Subscriptions that are open. */
  readonly subscriptions: Set<Subscription>;
}

const NOTHING: readonly never[] = Object.freeze([]);

export class SqliteSubscription implements Subscription {
  readonly capabilities: typeof CAPABILITIES = CAPABILITIES;
  readonly #parts: Parts;
  readonly #handOut: HandOut;
  readonly #options: SubscribeOptions;
  readonly #suspects: Suspects;
  readonly #pulls = new Set<Promise<unknown>>();
  /** Ends the waits of pulls; what was claimed already is returned by them. */
  readonly #closing = new AbortController();

  constructor(parts: Parts, queueName: string, queue: number, options: SubscribeOptions, suspects: Suspects) {
    this.#parts = parts;
    this.#options = options;
    this.#suspects = suspects;
    parts.subscriptions.add(this);
    this.#handOut = { queueName, queue, leaseMs: options.leaseMs, maxAttempts: options.maxAttempts };
  }

  pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#isClosed) return this.#refuse();
    if (signal.aborted || max <= 0) return Promise.resolve(NOTHING);
    const pull = this.#pull(max, signal);
    this.#pulls.add(pull);
    const forget = () => void this.#pulls.delete(pull);
    pull.then(forget, forget);
    return pull;
  }

  settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    if (this.#isClosed) return this.#refuse();
    const { writer, settling } = this.#parts;
    return promised((answer) =>
      writer.submit(settling.work(batch, this.#options.order, (results) => this.#answer(batch, results, answer))),
    );
  }

  extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    if (this.#isClosed) return this.#refuse();
    const { writer, settling } = this.#parts;
    return promised((answer) =>
      writer.submit(settling.extension(batch, (results) => this.#answer(batch, results, answer))),
    );
  }

  async alone(signal: AbortSignal): Promise<Delivery | undefined> {
    if (this.#isClosed) return this.#refuse();
    if (signal.aborted) return undefined;
    const { claims } = this.#parts;
    const inOrder = this.#options.order === 'key';
    const [row] = await this.#claim((now, leaseEndsAt) => {
      const suspect = claims.takeSuspect(this.#handOut.queue, inOrder, now, leaseEndsAt);
      return suspect === undefined ? NOTHING : [suspect];
    });
    this.#suspects.look();
    return row === undefined ? undefined : toDelivery(row, this.#handOut);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#parts.subscriptions.delete(this);
    this.#parts.wakeUp.wakeAll();
    await Promise.allSettled(this.#pulls);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #refuse(): Promise<never> {
    return Promise.reject(new LazaretError('LZ1102', `The consumer of queue '${this.#handOut.queueName}' is closed.`));
  }

  /** A lease that ran out shows here first: what is lost is told before the settle of it fails. */
  #answer(
    batch: readonly { readonly delivery: Delivery }[],
    results: readonly SettleResult[],
    answer: (results: readonly SettleResult[]) => void,
  ): void {
    if (results.includes('lost')) {
      this.#options.lost(batch.flatMap(({ delivery }, i) => (results[i] === 'lost' ? [delivery] : [])));
    }
    answer(results);
  }

  async #pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const { system, claims, wakeUp } = this.#parts;
    const { queue } = this.#handOut;
    const take = this.#options.order === 'key' ? 'takeInOrder' : 'take';
    const giveUpAt = system.monotonic() + this.#options.waitMs;
    try {
      for (;;) {
        this.#suspects.lookNowAndThen();
        const rows = await this.#claim((now, leaseEndsAt) => claims[take](queue, max, now, leaseEndsAt));
        if (rows.length > 0) return rows.map((row) => toDelivery(row, this.#handOut));
        const leftMs = giveUpAt - system.monotonic();
        if (leftMs <= 0 || signal.aborted || this.#isClosed) return NOTHING;
        await wakeUp.wait(queue, leftMs, signal, () => this.#suspects.look());
      }
    } catch (error) {
      throw explained(error, this.#parts.file);
    }
  }

  #claim(take: (now: number, leaseEndsAt: number) => readonly Row[]): Promise<readonly Row[]> {
    const { system, writer } = this.#parts;
    return new Promise((resolve, reject) => {
      let rows: readonly Row[] = NOTHING;
      let failure: Error | undefined;
      writer.submit({
        kind: 'claim',
        durable: false,
        size: 1,
        apply: () => {
          const now = system.now();
          rows = take(now, now + this.#options.leaseMs);
        },
        fail: (_from, _to, error) => {
          failure = error;
        },
        finish: () => (failure === undefined ? resolve(rows) : reject(failure)),
      });
    });
  }
}
