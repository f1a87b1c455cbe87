import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { Journal } from '../../ports/journal.ts';
import { type Client, closedError, type Session } from './client.ts';
import { checkDelay, grained, longestDelay } from './delays.ts';
import { type Answer, connectionReset, exchange, isPromise } from './exchange.ts';
import type { Fault } from './faults.ts';
import { HandedOut } from './handed-out.ts';
import type { World } from './shape.ts';
import { count } from './stats.ts';
import { WaitingPulls } from './waiting-pulls.ts';

/** What a shape does for one subscription. Everything here takes effect before it returns, or before its promise does. */
export interface Service {
  readonly journal?: Journal;
  /** The server goes on with a poll whatever becomes of the client, so no signal ends one. */
  readonly pollsOutliveClients?: true;
  take(max: number): readonly Delivery[];
  /** 'lost' where the receipt is not the current one. */
  settle(settlement: Settlement): SettleResult | Promise<SettleResult>;
  extend(extension: Extension): SettleResult;
  alone?(): Delivery | undefined;
  credit?(n: number): void;
  cut(): void;
  restored(): void;
  /** Said once no poll of the dead process waits at the server any more. */
  died(): void;
  /** Gives back what was never handed out, and goes. */
  leave(): void;
}

/** What a service sees of the process above it. */
export interface Front {
  /** Something may have come. */
  wake(): void;
  /** These were handed out, and are no longer ours. */
  lose(receipts: Iterable<unknown>): void;
  loseAll(): void;
  suspects(waiting: number): void;
}

export interface SubscriptionParts {
  readonly world: World;
  readonly client: Client;
  readonly capabilities: Capabilities;
  readonly wanted: SubscribeOptions;
  readonly serve: (front: Front) => Service;
}

/** What the subscriptions of all shapes do alike: wait, meet faults, keep book of what is handed out, tell what is lost, and close. */
export class MemorySubscription implements Subscription, Session, Front {
  readonly capabilities: Capabilities;
  readonly journal?: Journal;
  readonly alone?: (signal: AbortSignal) => Promise<Delivery | undefined>;
  readonly credit?: (n: number) => Promise<void>;
  readonly #world: World;
  readonly #client: Client;
  readonly #wanted: SubscribeOptions;
  readonly #pulls: WaitingPulls<Delivery>;
  readonly #handedOut: HandedOut;
  readonly #service: Service;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #closing: Promise<void> | undefined;
  #wakePlanned = false;
  #toldSuspects = 0;
  #seenSuspects = 0;

  constructor({ world, client, capabilities, wanted, serve }: SubscriptionParts) {
    this.capabilities = capabilities;
    this.#world = world;
    this.#client = client;
    this.#wanted = wanted;
    this.#pulls = new WaitingPulls(world.system);
    this.#handedOut = new HandedOut(world.clock, (lost) => wanted.lost(lost));
    client.attach(this);
    const service = serve(this);
    this.#service = service;
    if (service.journal !== undefined) this.journal = service.journal;
    if (service.alone !== undefined) this.alone = (signal) => this.#alone(signal);
    if (service.credit !== undefined) this.credit = (n) => this.#credit(n);
  }

  // --- the port ---------------------------------------------------------------------------------------------------

  async pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    await this.#open();
    if (this.#state === 'closing') throw closedError();
    count(this.#world.stats, 'pull', max);
    const fault = this.#world.faults.next('pull');
    if (fault !== undefined) return this.#pullInTrouble(fault, max);
    if (signal.aborted || max <= 0) return [];
    const endedBy = this.#service.pollsOutliveClients ? undefined : signal;
    return this.#client.hear(await this.#pulls.wait(() => this.#take(max), this.#wanted.waitMs, endedBy));
  }

  async settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    await this.#open();
    const answers = await exchange(this.#world, this.#client, 'settle', batch, (entry) => this.#settle(entry));
    return this.#client.hear(answers.map((answer) => this.#settleResult(answer)));
  }

  async extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    await this.#open();
    const answers = await exchange(this.#world, this.#client, 'extend', batch, (entry) => this.#extend(entry));
    return this.#client.hear(answers.map((answer) => this.#settleResult(answer)));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#client.isDead) return this.#client.connected();
    this.#state = 'closing';
    if (!this.#service.pollsOutliveClients) this.#pulls.end();
    await this.#pulls.idle();
    this.#state = 'closed';
    this.#service.leave();
    this.#handedOut.forget();
    this.#client.detach(this);
  }

  async #alone(signal: AbortSignal): Promise<Delivery | undefined> {
    await this.#open();
    const delivery = signal.aborted ? undefined : this.#service.alone!();
    if (delivery !== undefined) this.#keepBook([delivery]);
    return delivery;
  }

  async #credit(n: number): Promise<void> {
    await this.#open();
    this.#service.credit!(n);
  }

  // --- one entry --------------------------------------------------------------------------------------------------

  #take(max: number): readonly Delivery[] {
    if (this.#client.isDead) return this.#service.take(max);
    if (!this.#client.isConnected) return [];
    return this.#keepBook(this.#service.take(max));
  }

  #settle(settlement: Settlement): SettleResult | Promise<SettleResult> {
    try {
      const result = this.#service.settle(this.#withCheckedDelay(settlement));
      return isPromise(result) ? this.#bookLater(settlement, result) : this.#book(settlement, result);
    } catch (problem) {
      return problem as Error;
    }
  }

  async #bookLater(settlement: Settlement, result: Promise<SettleResult>): Promise<SettleResult> {
    return this.#book(settlement, await result);
  }

  #book({ delivery: { receipt }, verb }: Settlement, result: SettleResult): SettleResult {
    if (result === 'lost') this.#handedOut.lose([receipt]);
    else if (result === 'done' && verb !== 'hold') this.#handedOut.settled(receipt);
    return result;
  }

  #withCheckedDelay(settlement: Settlement): Settlement {
    if (settlement.verb !== 'retry' && settlement.verb !== 'release') return settlement;
    const delayMs = grained(settlement.delayMs, this.capabilities);
    checkDelay(delayMs, longestDelay(settlement.delivery, this.capabilities, this.#world.clock.now()));
    return { ...settlement, delayMs };
  }

  #extend(extension: Extension): SettleResult {
    const { receipt } = extension.delivery;
    const result = this.#service.extend(extension);
    if (result === 'lost') this.#handedOut.lose([receipt]);
    else if (result === 'done' && this.capabilities.lease) this.#handedOut.extend(receipt, extension.leaseMs);
    return result;
  }

  #settleResult(answer: Answer<SettleResult>): SettleResult {
    switch (answer) {
      case 'no answer':
        return this.capabilities.ackAnswered ? connectionReset() : 'done';
      case 'refused':
      case 'unroutable':
        return new Error(`the server said: ${answer}`);
      default:
        return answer;
    }
  }

  async #pullInTrouble(fault: Fault, max: number): Promise<readonly Delivery[]> {
    // n.b. only a lease brings back what nobody heard of.
    if (fault === 'reply-lost' && this.capabilities.lease) this.#service.take(max);
    if (fault !== 'hang') throw fault instanceof Error ? fault : connectionReset();
    await this.#client.reconnected();
    return this.#take(max);
  }

  #keepBook(deliveries: readonly Delivery[]): readonly Delivery[] {
    for (const delivery of deliveries) {
      this.#handedOut.add(delivery, this.capabilities.lease ? delivery.leaseMs : undefined);
    }
    return deliveries;
  }

  async #open(): Promise<void> {
    if (this.#state === 'closed') throw closedError();
    if (!this.#client.isConnected) await this.#client.connected();
  }

  // --- what the service sees --------------------------------------------------------------------------------------

  /** Once all of a batch is in, so that one pull brings the whole of it. */
  wake(): void {
    if (this.#wakePlanned || this.#pulls.size === 0) return;
    this.#wakePlanned = true;
    queueMicrotask(() => {
      this.#wakePlanned = false;
      this.#pulls.wake();
    });
  }

  lose(receipts: Iterable<unknown>): void {
    this.#handedOut.lose(receipts);
  }

  loseAll(): void {
    this.#handedOut.loseAll();
  }

  /** Told on change, and never from within a call of ours. */
  suspects(waiting: number): void {
    if (waiting === this.#seenSuspects) return;
    this.#seenSuspects = waiting;
    queueMicrotask(() => {
      if (this.#seenSuspects === this.#toldSuspects || this.#state === 'closed' || this.#client.isDead) return;
      this.#toldSuspects = this.#seenSuspects;
      this.#wanted.suspects(this.#seenSuspects);
    });
  }

  // --- what the connection does to it -----------------------------------------------------------------------------

  cut(): void {
    this.#service.cut();
  }

  restored(): void {
    this.#service.restored();
    this.wake();
  }

  died(): void {
    this.#handedOut.forget();
    if (!this.#service.pollsOutliveClients) this.#pulls.end();
    void this.#pulls.idle().then(() => this.#service.died());
  }
}
