import { within } from '../../core/within.ts';
import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { System } from '../../ports/system.ts';
import { type HandOut, toDelivery } from './arrival.ts';
import type { NatsConnection } from './client.ts';
import { Intake } from './intake.ts';
import { Leases } from './leases.ts';
import { copyParcel, isStorable, letterParcel, type Original, type Parcel } from './outgoing.ts';
import { publishAll } from './publisher.ts';
import type { Questions } from './questions.ts';
import { isOurs, type Receipt } from './receipt.ts';
import { closedError, unanswered, unfit } from './refusals.ts';
import type { Place } from './topology.ts';

/** What a subscription needs of its broker. */
export interface Parts {
  readonly system: System;
  readonly connection: NatsConnection;
  readonly questions: Questions;
  readonly place: Place;
  readonly options: SubscribeOptions;
  readonly capabilities: Capabilities;
  readonly leaseMs: number;
  readonly most: { readonly messages: number; readonly ms: number };
  readonly answerTimeoutMs: number;
  readonly newInbox: () => string;
  readonly mostBytes: () => number;
  readonly closed: (subscription: NatsSubscription) => void;
}

const ACK = '+ACK';
const NAK = '-NAK';
const WORKING = '+WPI';
const NO_BYTES = new Uint8Array(0);

/** What has to be stored elsewhere before its original may go. `isLetter`: its ack is answered one by one. */
interface Moving {
  readonly index: number;
  readonly receipt: Receipt;
  readonly parcel: Parcel;
  readonly isLetter: boolean;
}

export class NatsSubscription implements Subscription {
  readonly capabilities: Capabilities;
  readonly #parts: Parts;
  readonly #intake: Intake;
  readonly #leases: Leases;
  readonly #handOut: HandOut;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { system, connection, place, options, leaseMs } = parts;
    const { stream, consumer, queue } = place;
    this.#parts = parts;
    this.capabilities = parts.capabilities;
    this.#handOut = { queue, stream, maxAttempts: options.maxAttempts };
    const tap = { stream, consumer, leaseMs, wantedMs: options.leaseMs, waitMs: options.waitMs, most: parts.most };
    this.#intake = new Intake(connection, system, tap, parts.newInbox, (receipts) => this.#giveBack(receipts));
    this.#leases = new Leases(
      system,
      leaseMs,
      (receipts) => this.#say(receipts, WORKING),
      (receipts) => options.lost(receipts.map(({ delivery }) => delivery!)),
    );
  }

  get stream(): string {
    return this.#parts.place.stream;
  }

  down(why: Error): void {
    this.#intake.down(why);
  }

  up(): void {
    this.#intake.up();
  }

  // --- taking -----------------------------------------------------------------------------------------------------------

  async pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#closing !== undefined) return this.#refuse();
    const receipts = await this.#intake.pull(max, signal);
    if (receipts.length === 0) return [];
    const { system } = this.#parts;
    const [now, at] = [system.now(), system.monotonic()];
    return receipts.map((receipt) => {
      const delivery = toDelivery(receipt, receipt.message, this.#handOut, now, receipt.wantedUntil - at);
      receipt.delivery = delivery;
      receipt.state = 'out';
      this.#leases.add(receipt, at);
      return delivery;
    });
  }

  // --- settling ---------------------------------------------------------------------------------------------------------

  async settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    if (this.#closing !== undefined) return this.#refuse();
    if (batch.length === 0) return [];
    const results = new Array<SettleResult>(batch.length);
    const moving: Moving[] = [];
    const said: number[] = [];
    const now = this.#parts.system.monotonic();
    let isLate = false;
    for (let index = 0; index < batch.length; index++) {
      const settlement = batch[index]!;
      const receipt = settlement.delivery.receipt as Receipt;
      results[index] = 'done';
      if (receipt.state !== 'out' || receipt.leaseEndsAt <= now) {
        results[index] = 'lost';
        isLate ||= receipt.state === 'out';
        continue;
      }
      if (settlement.verb === 'hold') continue;
      receipt.state = 'settling';
      try {
        const move = this.#movingOf(index, receipt, settlement);
        if (move !== undefined) {
          moving.push(move);
          continue;
        }
        this.#parts.connection.publish(receipt.ackTo, wordOf(settlement));
        said.push(index);
      } catch (error) {
        receipt.state = 'out';
        results[index] = error as Error;
      }
    }
    // n.b. a loss is told before a settle of it fails.
    if (isLate) this.#leases.check(now);
    const arriving = said.length === 0 ? undefined : this.#arrived();
    if (moving.length > 0) await this.#move(moving, results);
    const trouble = await arriving;
    for (const index of said) this.#end(batch[index]!.delivery.receipt as Receipt, index, trouble, results);
    return results;
  }

  /** Where nothing has to be written, a word to the server is enough. */
  #movingOf(index: number, receipt: Receipt, settlement: Settlement): Moving | undefined {
    const { place, mostBytes } = this.#parts;
    const { delivery } = settlement;
    switch (settlement.verb) {
      case 'deadLetter': {
        const parcel = letterParcel(
          place.letters,
          this.#originalOf(receipt),
          delivery,
          settlement.evidence,
          mostBytes(),
        );
        return { index, receipt, parcel, isLetter: true };
      }
      case 'retry':
      case 'release': {
        // n.b. where others consume the same stream a copy would be theirs too.
        if (settlement.notBefore === delivery.notBefore || !place.isWorkQueue) return undefined;
        const attempt = settlement.verb === 'retry' ? delivery.attempt + 1 : delivery.attempt;
        const { subject } = receipt.message;
        const parcel = copyParcel(subject, this.#originalOf(receipt), delivery, attempt, settlement.notBefore);
        if (!isStorable(parcel, mostBytes())) return undefined;
        return { index, receipt, parcel, isLetter: false };
      }
      default:
        return undefined;
    }
  }

  #originalOf({ sequence, storedAt }: Receipt): Original {
    const { stream, consumer } = this.#parts.place;
    return { stream, consumer, sequence, storedAt };
  }

  /** Stored, then acknowledged, then said to be done. */
  async #move(moving: readonly Moving[], results: SettleResult[]): Promise<void> {
    const { questions, system } = this.#parts;
    const stored = await publishAll(
      questions,
      moving.map(({ parcel }) => parcel),
    );
    const now = system.monotonic();
    const acking: Moving[] = [];
    for (const [at, move] of moving.entries()) {
      const result = stored[at]!;
      if (!isOurs(move.receipt, now)) results[move.index] = 'lost';
      else if (result === 'done') acking.push(move);
      else {
        move.receipt.state = 'out';
        results[move.index] = this.#notStored(move, result);
      }
    }
    this.#leases.check(now);
    const answers = await questions.ask(acking.map(({ receipt }) => ({ subject: receipt.ackTo, body: NO_BYTES })));
    for (const [at, { index, receipt }] of acking.entries()) {
      const answer = answers[at];
      const trouble =
        answer === undefined ? unanswered('an acknowledgement') : answer instanceof Error ? answer : undefined;
      this.#end(receipt, index, trouble, results);
    }
  }

  #notStored(
    { parcel: { subject }, isLetter }: Moving,
    result: Exclude<Awaited<ReturnType<typeof publishAll>>[number], 'done'>,
  ): Error {
    if (result instanceof Error) return result;
    const what = isLetter ? `dead letter in '${subject}'` : `copy in '${subject}'`;
    if (result === 'unknown') return unanswered(`a ${what}`);
    const why = result === 'unroutable' ? 'no stream takes it' : 'its stream is full';
    return unfit(`NATS stores no ${what}: ${why}`, 'Provision it, or make room.');
  }

  #end(receipt: Receipt, index: number, trouble: Error | undefined, results: SettleResult[]): void {
    if (trouble === undefined) {
      receipt.state = 'closed';
      this.#leases.drop(receipt);
    } else if (receipt.state === 'closed') results[index] = 'lost';
    else {
      receipt.state = 'out';
      results[index] = trouble;
    }
  }

  /** One round trip for all words of a turn: they were read when its answer comes. */
  async #arrived(): Promise<Error | undefined> {
    const { connection, system, answerTimeoutMs } = this.#parts;
    const late = () => unanswered('what was settled');
    try {
      await within(system, answerTimeoutMs, connection.flush(), late);
      return undefined;
    } catch (error) {
      return unanswered('what was settled', error);
    }
  }

  async extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    if (this.#closing !== undefined) return this.#refuse();
    if (batch.length === 0) return [];
    const { connection, system } = this.#parts;
    const now = system.monotonic();
    this.#leases.check(now);
    const results = batch.map(({ delivery }): SettleResult => {
      const receipt = delivery.receipt as Receipt;
      if (receipt.state !== 'out' && receipt.state !== 'settling') return 'lost';
      try {
        connection.publish(receipt.ackTo, WORKING);
        return 'done';
      } catch (error) {
        return error as Error;
      }
    });
    const trouble = await this.#arrived();
    return results.map((result, i) => {
      if (result !== 'done') return result;
      if (trouble !== undefined) return trouble;
      const { delivery, leaseMs } = batch[i]!;
      this.#leases.extended(delivery.receipt as Receipt, now, leaseMs);
      return 'done';
    });
  }

  /** n.b. nobody waits for it: a word that is lost costs a lease, as silence does. */
  #say(receipts: readonly Receipt[], word: string): void {
    const { connection } = this.#parts;
    if (connection.isClosed()) return;
    for (const { ackTo } of receipts) connection.publish(ackTo, word);
  }

  #giveBack(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) receipt.state = 'closed';
    this.#say(receipts, NAK);
  }

  // --- the end ----------------------------------------------------------------------------------------------------------

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  async #leave(): Promise<void> {
    this.#giveBack(await this.#intake.close());
    this.#leases.end();
    if (!this.#parts.connection.isClosed()) await this.#arrived();
    this.#parts.closed(this);
  }

  #refuse(): Promise<never> {
    return Promise.reject(closedError(`consumer of queue '${this.#parts.place.queue}'`));
  }
}

/** n.b. the delay is always said, in nanoseconds: the server's own list of waits is for leases that ran out. */
function wordOf(settlement: Settlement): string {
  if (settlement.verb === 'ack') return ACK;
  const delayMs = 'delayMs' in settlement ? Math.ceil(settlement.delayMs) : 0;
  return delayMs > 0 ? `${NAK} {"delay":${delayMs * 1e6}}` : NAK;
}
