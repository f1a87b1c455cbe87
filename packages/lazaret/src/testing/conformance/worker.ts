import assert from 'node:assert/strict';
import type { Evidence } from '../../core/evidence.ts';
import type {
  Broker,
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { History } from '../../ports/journal.ts';
import type { Harness } from './harness.ts';
import { textOf } from './messages.ts';
import { isSettled, type Patience, patienceOf, soon } from './patience.ts';

/** One consumer of a trial, driven by hand, and what its subscription told it. */
export class Worker {
  readonly broker: Broker;
  readonly options: SubscribeOptions;
  /** In the order in which they were told. */
  readonly lost: Delivery[] = [];
  /** As last told. */
  suspects = 0;
  /** Monotonic time at which the last pull that brought something answered. */
  pulledAt = 0;
  subscription!: Subscription;
  readonly #harness: Harness;
  readonly #patience: Patience;

  constructor(harness: Harness, broker: Broker, options: Partial<SubscribeOptions>) {
    this.broker = broker;
    this.#harness = harness;
    this.#patience = patienceOf(harness);
    this.options = {
      prefetch: 20,
      leaseMs: harness.leaseMs,
      waitMs: Math.round(harness.leaseMs / 4),
      order: 'none',
      maxAttempts: 4,
      lost: (deliveries) => void this.lost.push(...deliveries),
      suspects: (waiting) => {
        this.suspects = waiting;
      },
      ...options,
    };
  }

  async subscribe(queue: string): Promise<void> {
    this.subscription = await this.#soon('subscribe', this.broker.subscribe(queue, this.options));
  }

  // --- taking -----------------------------------------------------------------------------------------------------

  /** Exactly `count` messages, started as the runtime would start them. Fails when fewer come within `withinMs`. */
  async take(count: number, withinMs: number = this.#patience.longMs): Promise<Delivery[]> {
    const taken = await this.gather(withinMs, count);
    assert.equal(
      taken.length,
      count,
      `wanted ${count} messages within ${withinMs} ms, got ${JSON.stringify(taken.map(textOf))}`,
    );
    return taken;
  }

  async one(withinMs?: number): Promise<Delivery> {
    const [delivery] = await this.take(1, withinMs);
    return delivery!;
  }

  /** Fails when anything comes within `forMs`. */
  async none(forMs: number): Promise<void> {
    const taken = await this.gather(forMs);
    assert.deepEqual(taken.map(textOf), [], `nothing should have come within ${forMs} ms`);
  }

  /** What comes within `withinMs`, up to `max`, started as the runtime would start it. */
  async gather(withinMs: number, max: number = this.options.prefetch): Promise<Delivery[]> {
    return this.#gather(withinMs, max, (pulled) => this.#start(pulled));
  }

  /** The first message that comes, not started. */
  async bring(): Promise<Delivery> {
    const [delivery] = await this.#gather(this.#patience.longMs, 1, async (pulled) => pulled);
    assert.ok(delivery, `nothing came within ${this.#patience.longMs} ms`);
    return delivery;
  }

  /** One pull, as it is answered. n.b. nobody may await it before it rejects, and that is no crash. */
  pull(max: number, signal: AbortSignal = new AbortController().signal): Promise<readonly Delivery[]> {
    const pull = this.subscription.pull(max, signal).then((pulled) => {
      if (pulled.length > 0) this.pulledAt = this.#harness.system.monotonic();
      return pulled;
    });
    pull.catch(() => undefined);
    return pull;
  }

  async #gather(
    withinMs: number,
    max: number,
    start: (pulled: readonly Delivery[]) => Promise<readonly Delivery[]>,
  ): Promise<Delivery[]> {
    const { system } = this.#harness;
    const endAt = system.monotonic() + withinMs;
    const taken: Delivery[] = [];
    do {
      const askedAt = system.monotonic();
      const pulled = await this.#pullWithin(endAt - askedAt, max - taken.length);
      taken.push(...(await start(pulled)));
      // n.b. a driver that answers an empty queue at once is asked again later, or no time would ever pass.
      if (pulled.length === 0 && system.monotonic() === askedAt) await this.#harness.pass(this.#patience.stepMs);
    } while (taken.length < max && system.monotonic() < endAt);
    return taken;
  }

  /** Asks no more when the time is up; what an open request still brings counts. */
  async #pullWithin(withinMs: number, max: number): Promise<readonly Delivery[]> {
    const asking = new AbortController();
    const pull = this.pull(max, asking.signal);
    if (!(await isSettled(this.#harness, pull, withinMs))) {
      asking.abort();
      await this.#soon('a pull that was told to ask no more', pull, this.options.waitMs + this.#patience.graceMs);
    }
    return pull;
  }

  async #start(pulled: readonly Delivery[]): Promise<Delivery[]> {
    if (this.subscription.journal === undefined || pulled.length === 0) return [...pulled];
    const histories = await this.begin(pulled);
    return pulled.map((delivery, i) => ({
      ...delivery,
      attempt: histories[i]!.attempt,
      strikes: histories[i]!.strikes,
    }));
  }

  /** Only where the subscription has a journal. */
  begin(deliveries: readonly Delivery[], alone = false): Promise<readonly History[]> {
    const starts = deliveries.map((delivery) => ({ delivery, alone }));
    return this.#soon('begin', this.subscription.journal!.begin(starts));
  }

  /** Only where the driver sets suspects aside. */
  alone(): Promise<Delivery | undefined> {
    return this.#soon('alone', this.subscription.alone!(new AbortController().signal));
  }

  // --- settling ---------------------------------------------------------------------------------------------------

  settle(...batch: Settlement[]): Promise<readonly SettleResult[]> {
    return this.#soon('settle', this.subscription.settle(batch));
  }

  async extend(...batch: Extension[]): Promise<readonly SettleResult[]> {
    return this.#soon('extend', this.subscription.extend(batch));
  }

  async ack(...deliveries: Delivery[]): Promise<void> {
    await this.#done(deliveries.map((delivery) => ({ delivery, verb: 'ack' })));
  }

  async retry(delivery: Delivery, delayMs = 0, notBefore?: number): Promise<void> {
    await this.#done([{ delivery, verb: 'retry', delayMs, ...(notBefore === undefined ? {} : { notBefore }) }]);
  }

  async release(delivery: Delivery, delayMs = 0, notBefore?: number): Promise<void> {
    await this.#done([{ delivery, verb: 'release', delayMs, ...(notBefore === undefined ? {} : { notBefore }) }]);
  }

  async hold(delivery: Delivery, charged = false): Promise<void> {
    await this.#done([{ delivery, verb: 'hold', delayMs: 0, charged }]);
  }

  async deadLetter(delivery: Delivery, evidence: Evidence): Promise<void> {
    await this.#done([{ delivery, verb: 'deadLetter', evidence }]);
  }

  async #done(batch: readonly Settlement[]): Promise<void> {
    const results = await this.settle(...batch);
    assert.deepEqual(
      results,
      batch.map(() => 'done'),
      `${batch.map(({ verb }) => verb).join(', ')}: every settlement of what is ours is done`,
    );
  }

  // --- the rest ---------------------------------------------------------------------------------------------------

  /** By receipt, as a runtime recognises them. */
  isTold(delivery: Delivery): boolean {
    return this.lost.some(({ receipt }) => receipt === delivery.receipt);
  }

  close(): Promise<void> {
    return this.#soon('close', this.subscription.close());
  }

  #soon<T>(what: string, work: Promise<T>, withinMs: number = this.#patience.longMs): Promise<T> {
    return soon(this.#harness, what, work, withinMs);
  }
}
