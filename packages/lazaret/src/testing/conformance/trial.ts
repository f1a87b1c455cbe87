import assert from 'node:assert/strict';
import type {
  Address,
  Broker,
  OutgoingMessage,
  PublishOptions,
  PublishResult,
  SubscribeOptions,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { Harness, Letter } from './harness.ts';
import type { Examinee } from './needs.ts';
import { isSettled, type Patience, patienceOf, soon } from './patience.ts';
import { Worker } from './worker.ts';

/** The delays that cases ask for, in leases. */
export const DELAY_SHARES = [0.1, 0.2, 0.5, 0.6, 0.8, 1, 1.5, 4] as const;

/** One run of one case: its clients and consumers, and the time that passes while they answer. */
export class Trial {
  readonly harness: Harness;
  readonly examinee: Examinee;
  readonly patience: Patience;
  readonly #brokers = new Set<Broker>();
  #publisher: Broker | undefined;

  constructor(harness: Harness, examinee: Examinee) {
    this.harness = harness;
    this.examinee = examinee;
    this.patience = patienceOf(harness);
  }

  get capabilities(): Capabilities {
    return this.examinee.capabilities;
  }

  get leaseMs(): number {
    return this.harness.leaseMs;
  }

  // --- time -------------------------------------------------------------------------------------------------------

  now(): number {
    return this.harness.system.monotonic();
  }

  pass(ms: number): Promise<void> {
    return this.harness.pass(ms);
  }

  /** What `work` comes to while time passes. */
  soon<T>(what: string, work: Promise<T>, withinMs: number = this.patience.longMs): Promise<T> {
    return soon(this.harness, what, work, withinMs);
  }

  isSettled(work: Promise<unknown>, withinMs: number): Promise<boolean> {
    return isSettled(this.harness, work, withinMs);
  }

  /** Whether `condition` holds within `withinMs`. */
  async eventually(condition: () => boolean, withinMs: number = this.patience.graceMs): Promise<boolean> {
    const endAt = this.now() + withinMs;
    await this.pass(0);
    while (!condition() && this.now() < endAt) await this.pass(this.patience.stepMs);
    return condition();
  }

  /** A delay of about `share` leases, in whole grains. */
  delayMs(share: (typeof DELAY_SHARES)[number]): number {
    const { delayGrainMs } = this.capabilities;
    return Math.ceil((share * this.leaseMs) / delayGrainMs) * delayGrainMs;
  }

  // --- clients ----------------------------------------------------------------------------------------------------

  async broker(): Promise<Broker> {
    const broker = await this.soon('connect', this.harness.broker());
    this.#brokers.add(broker);
    return broker;
  }

  async worker(queue: string, options: Partial<SubscribeOptions> = {}, broker?: Broker): Promise<Worker> {
    const worker = new Worker(this.harness, broker ?? (await this.broker()), {
      retryDelaysMs: this.#retryDelaysMs(),
      ...options,
    });
    await worker.subscribe(queue);
    return worker;
  }

  async kill({ broker }: Worker): Promise<void> {
    this.#brokers.delete(broker);
    await this.harness.kill(broker);
  }

  async cut({ broker }: Worker): Promise<void> {
    await this.harness.cut!(broker);
  }

  // --- queues -----------------------------------------------------------------------------------------------------

  queue({ ordered = false }: { readonly ordered?: boolean } = {}): Promise<string> {
    return this.soon('provisioning', this.harness.queue({ ordered, retryDelaysMs: this.#retryDelaysMs() }));
  }

  #retryDelaysMs(): readonly number[] {
    return DELAY_SHARES.map((share) => this.delayMs(share));
  }

  /** By a client of its own. Fails unless every message is stored. */
  async publish(to: Address, messages: readonly OutgoingMessage[], options?: PublishOptions): Promise<void> {
    const results = await this.tryPublish(to, messages, options);
    assert.deepEqual(
      results,
      messages.map(() => 'done'),
      'everything is stored',
    );
  }

  async tryPublish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options?: PublishOptions,
  ): Promise<readonly PublishResult[]> {
    const publisher = await this.publisher();
    return this.soon('publish', publisher.publish(to, messages, options));
  }

  async publisher(): Promise<Broker> {
    this.#publisher ??= await this.broker();
    return this.#publisher;
  }

  /** A fresh queue with these messages, and a consumer of it. */
  async begin(
    messages: readonly OutgoingMessage[],
    options: Partial<SubscribeOptions> = {},
  ): Promise<{ readonly queue: string; readonly worker: Worker }> {
    const queue = await this.queue({ ordered: options.order === 'key' });
    await this.publish(queue, messages);
    return { queue, worker: await this.worker(queue, options) };
  }

  letters(queue: string): Promise<readonly Letter[]> {
    return this.soon('reading the letters', this.harness.letters(queue));
  }

  async letter(queue: string): Promise<Letter> {
    const letters = await this.letters(queue);
    assert.equal(letters.length, 1, `one letter, not ${letters.length}`);
    return letters[0]!;
  }

  // --- the end ----------------------------------------------------------------------------------------------------

  async end(): Promise<void> {
    for (const broker of this.#brokers) await this.soon('closing a client', broker.close(), 2 * this.patience.longMs);
    await this.harness.close();
  }
}
