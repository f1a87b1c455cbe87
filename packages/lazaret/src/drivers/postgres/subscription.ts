import { answersOf } from '../../core/answers.ts';
import { LazaretError } from '../../core/errors.ts';
import { type TurnAnswer, Turns } from '../../core/turns.ts';
import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { PgRow } from './client.ts';
import { type Database, numbers } from './database.ts';
import { type HandOut, toDelivery } from './deliver.ts';
import { explained } from './errors.ts';
import { type Receipt, receiptOf } from './receipt.ts';
import type { Settling } from './settle.ts';
import type { WakeUp } from './wake-up.ts';

/** What a subscription needs of its broker. */
export interface Parts {
  readonly database: Database;
  readonly system: System;
  readonly settling: Settling;
  readonly wakeUp: WakeUp;
  /** Subscriptions that are open. */
  readonly subscriptions: Set<Subscription>;
}

const NOTHING: readonly never[] = Object.freeze([]);

export class PostgresSubscription implements Subscription {
  readonly capabilities: typeof CAPABILITIES = CAPABILITIES;
  readonly #parts: Parts;
  readonly #queue: number;
  readonly #handOut: HandOut;
  readonly #options: SubscribeOptions;
  readonly #turns: Turns<Receipt, readonly PgRow[]>;
  readonly #turnText: string;
  readonly #suspect: string;
  readonly #pulls = new Set<Promise<unknown>>();
  /** Ends the waits of pulls; what was claimed already is returned by them. */
  readonly #closing = new AbortController();
  #suspectsTold = 0;

  constructor(parts: Parts, queueName: string, queue: number, options: SubscribeOptions) {
    const { database, system } = parts;
    const { leaseMs, maxAttempts } = options;
    this.#parts = parts;
    this.#queue = queue;
    this.#options = options;
    this.#handOut = { queueName, leaseMs, maxAttempts };
    this.#turns = new Turns({ turn: (run) => system.turn(run), ask: (acks, most) => this.#turn(acks, most) });
    this.#turnText = `SELECT * FROM ${database.schema}.turn_1($1, $2, $3, $4, $5, $6)`;
    this.#suspect = `SELECT * FROM ${database.schema}.suspect_1($1, $2, $3)`;
    parts.subscriptions.add(this);
  }

  get #inOrder(): boolean {
    return this.#options.order === 'key';
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

  async settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    if (this.#isClosed) return this.#refuse();
    if (batch.length === 0) return NOTHING;
    return batch.every(({ verb }) => verb === 'ack') ? this.#acknowledge(batch) : this.#settle(batch);
  }

  async extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    if (this.#isClosed) return this.#refuse();
    return this.#answered(batch, () => this.#parts.settling.extend(batch));
  }

  async alone(signal: AbortSignal): Promise<Delivery | undefined> {
    if (this.#isClosed) return this.#refuse();
    if (signal.aborted) return undefined;
    const { database } = this.#parts;
    const [row] = await database.read('suspect', this.#suspect, [
      this.#queue,
      this.#inOrder,
      Math.round(this.#options.leaseMs),
    ]);
    if (this.#suspectsTold > 0) this.#tellSuspects(this.#suspectsTold - 1);
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

  // --- settling ---------------------------------------------------------------------------------------------------

  #acknowledge(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    const receipts: readonly Receipt[] = batch.map(({ delivery }) => receiptOf(delivery));
    return this.#answered(batch, async () => {
      const lost = await this.#turns.acknowledge(receipts);
      this.#callOthers(batch);
      return lost.size === 0 ? undefined : new Set([...batch.keys()].filter((place) => !lost.has(place)));
    });
  }

  #settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    return this.#answered(batch, async () => {
      const done = await this.#parts.settling.settle(this.#queue, this.#inOrder, batch);
      this.#callOthers(batch);
      return done;
    });
  }

  /** A lease that ran out shows here first: what is lost is told before the settle of it fails. `undefined`: all is done. */
  async #answered(
    batch: readonly { readonly delivery: Delivery }[],
    ask: () => Promise<ReadonlySet<number> | undefined>,
  ): Promise<readonly SettleResult[]> {
    try {
      return answersOf(batch, await ask(), (gone) => this.#options.lost(gone));
    } catch (error) {
      const failure = explained(error, this.#parts.database.place);
      return batch.map(() => failure);
    }
  }

  /** Those who wait for what comes back, or for the next of a key. */
  #callOthers(batch: readonly Settlement[]): void {
    const comesBack = ({ verb }: Settlement) => verb === 'retry' || verb === 'release';
    const freesNext = ({ verb, delivery: { message } }: Settlement) => verb !== 'hold' && message.key !== undefined;
    if (batch.some((settlement) => comesBack(settlement) || (this.#inOrder && freesNext(settlement)))) {
      this.#parts.wakeUp.touched(this.#queue);
    }
  }

  async #turn(acks: readonly Receipt[], most: number): Promise<TurnAnswer<readonly PgRow[]>> {
    const seqs = acks.map(({ seq }) => seq);
    const tokens = acks.map(({ token }) => token);
    const values = [
      this.#queue,
      this.#inOrder,
      numbers(seqs),
      numbers(tokens),
      most,
      Math.round(this.#options.leaseMs),
    ];
    const rows = await this.#parts.database.ask('turn', this.#turnText, values);
    const lost = rows.flatMap(({ kind, seq }) => (kind === 'lost' ? [seqs.indexOf(seq as number)] : []));
    return { lost: new Set(lost), claimed: rows };
  }

  // --- pulling ----------------------------------------------------------------------------------------------------

  async #pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const { system, wakeUp, database } = this.#parts;
    const giveUpAt = system.monotonic() + this.#options.waitMs;
    try {
      for (;;) {
        const heard = wakeUp.heardOf(this.#queue);
        const rows = await this.#turns.claim(max);
        const { deliveries, dueMs } = this.#read(rows);
        if (deliveries.length > 0) return deliveries;
        const leftMs = giveUpAt - system.monotonic();
        if (leftMs <= 0 || signal.aborted || this.#isClosed) return NOTHING;
        await wakeUp.wait(this.#queue, heard, Math.min(leftMs, dueMs), signal);
        if (signal.aborted || this.#isClosed) return NOTHING;
      }
    } catch (error) {
      throw explained(error, database.place);
    }
  }

  #read(rows: readonly PgRow[]): { readonly deliveries: readonly Delivery[]; readonly dueMs: number } {
    const claimed: PgRow[] = [];
    let suspects = 0;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (row.kind === 'message') claimed.push(row);
      else if (row.kind === 'suspects') suspects = row.seq as number;
      else if (row.kind === 'due') dueMs = row.seq as number;
    }
    this.#tellSuspects(suspects);
    claimed.sort((a, b) => (a.place as number) - (b.place as number));
    return { deliveries: claimed.map((row) => toDelivery(row, this.#handOut)), dueMs };
  }

  #tellSuspects(waiting: number): void {
    if (waiting === this.#suspectsTold) return;
    this.#suspectsTold = waiting;
    this.#options.suspects(waiting);
  }
}
