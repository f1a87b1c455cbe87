import { answersOf } from '../../core/answers.ts';
import { LazaretError } from '../../core/errors.ts';
import { withEvidence } from '../../core/letter.ts';
import { checkDelay } from '../../core/table-delay.ts';
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
import { type Claimed, type HandOut, toDelivery } from './deliver.ts';
import type { Ear } from './ear.ts';
import { fieldsOf } from './entry.ts';
import { explained, isMissingGroup } from './errors.ts';
import { type Keys, listOf } from './keys.ts';
import { type Link, textOf, type Value } from './link.ts';
import { type Receipt, receiptOf } from './receipt.ts';
import { EXTEND, type Script, SETTLE, SUSPECT, TURN } from './scripts.ts';

/** What a subscription needs of its broker. */
export interface Parts {
  readonly link: Link;
  readonly system: System;
  readonly keys: Keys;
  readonly group: string;
  readonly ear: Ear;
  /** `false`: other groups read this stream, so that nothing is deleted from it. */
  readonly deletes: boolean;
  /** Makes stream and group again where somebody took them away. */
  readonly ensure: () => Promise<void>;
  /** Something of this stream was given back. */
  readonly touched: () => void;
  readonly closed: (subscription: RedisSubscription) => void;
}

interface Claims {
  readonly entries: readonly Claimed[];
  readonly suspects: number;
  readonly dueMs: number;
  /** Of the entry that was handed out last; empty where there may be more. */
  readonly newest: string;
}

const NOTHING: readonly never[] = Object.freeze([]);

export class RedisSubscription implements Subscription {
  readonly capabilities: typeof CAPABILITIES = CAPABILITIES;
  readonly #parts: Parts;
  readonly #handOut: HandOut;
  readonly #options: SubscribeOptions;
  readonly #keys: readonly string[];
  readonly #turns: Turns<Receipt, Claims>;
  readonly #pulls = new Set<Promise<unknown>>();
  /** Ends the waits of pulls; what was claimed already is returned by them. */
  readonly #closing = new AbortController();
  #suspectsTold = 0;

  constructor(parts: Parts, queue: string, options: SubscribeOptions) {
    const { leaseMs, maxAttempts } = options;
    this.#parts = parts;
    this.#options = options;
    this.#keys = listOf(parts.keys);
    this.#handOut = { queue, leaseMs, maxAttempts };
    this.#turns = new Turns({
      turn: (run) => parts.system.turn(run),
      ask: (acks, most) => this.#turn(acks, most),
    });
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
    const values = batch.flatMap(({ delivery, leaseMs }) => [...nameOf(delivery), Math.round(leaseMs)]);
    return this.#answered(batch, async () => placesOf(await this.#run(EXTEND, values)));
  }

  async alone(signal: AbortSignal): Promise<Delivery | undefined> {
    if (this.#isClosed) return this.#refuse();
    if (signal.aborted) return undefined;
    const { link, group, system } = this.#parts;
    const values = [group, Math.round(this.#options.leaseMs)];
    const [entry, waiting] = (await link.explained(() => this.#run(SUSPECT, values))) as [Claimed | null, number];
    this.#tellSuspects(waiting);
    return entry === null ? undefined : toDelivery(entry, this.#handOut, system.now());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#closing.abort();
    this.#parts.ear.end();
    await Promise.allSettled(this.#pulls);
    this.#parts.closed(this);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #refuse(): Promise<never> {
    return Promise.reject(new LazaretError('LZ1102', `The consumer of queue '${this.#handOut.queue}' is closed.`));
  }

  /** Once more where somebody took the stream away. */
  async #run(script: Script, values: readonly Value[]): Promise<unknown> {
    const { link, ensure } = this.#parts;
    try {
      return await link.run(script, this.#keys, values);
    } catch (error) {
      if (!isMissingGroup(error)) throw error;
      await ensure();
      return link.run(script, this.#keys, values);
    }
  }

  // --- settling ---------------------------------------------------------------------------------------------------

  #acknowledge(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    return this.#answered(batch, async () => {
      const lost = await this.#turns.acknowledge(batch.map(({ delivery }) => receiptOf(delivery)));
      return lost.size === 0 ? undefined : new Set([...batch.keys()].filter((place) => !lost.has(place)));
    });
  }

  #settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    return this.#answered(batch, async () => {
      const { group, deletes, touched } = this.#parts;
      const values = batch.flatMap((settlement) => this.#valuesOf(settlement));
      const done = placesOf(await this.#run(SETTLE, [group, deletes ? '1' : '0', batch.length, ...values]));
      if (batch.some(({ verb }) => verb === 'retry' || verb === 'release')) touched();
      return done;
    });
  }

  #valuesOf(settlement: Settlement): readonly Value[] {
    const { delivery, verb } = settlement;
    const delayMs = verb === 'retry' || verb === 'release' ? checkDelay(settlement.delayMs) : 0;
    const due = 'notBefore' in settlement ? String(Math.round(settlement.notBefore!)) : '';
    // A hold with a charge is a verb of its own for the script.
    const said = verb === 'hold' && settlement.charged ? 'charge' : verb;
    const letter = verb === 'deadLetter' ? letterOf(settlement) : NOTHING;
    return [said, ...nameOf(delivery), delayMs, due, letter.length, ...letter];
  }

  /** A lease that ran out shows here first: what is lost is told before the settle of it fails. `undefined`: all is done. */
  async #answered(
    batch: readonly { readonly delivery: Delivery }[],
    ask: () => Promise<ReadonlySet<number> | undefined>,
  ): Promise<readonly SettleResult[]> {
    try {
      return answersOf(batch, await ask(), (gone) => this.#options.lost(gone));
    } catch (error) {
      const failure = explained(error, this.#parts.link.place);
      return batch.map(() => failure);
    }
  }

  // --- pulling ----------------------------------------------------------------------------------------------------

  async #turn(acks: readonly Receipt[], most: number): Promise<TurnAnswer<Claims>> {
    const { group, deletes } = this.#parts;
    const values: Value[] = [group, deletes ? '1' : '0', Math.round(this.#options.leaseMs), most, acks.length];
    for (const { id, token } of acks) values.push(id, token);
    const answer = (await this.#run(TURN, values)) as [number[], Claimed[], number, number, Uint8Array];
    const [lost, entries, suspects, dueMs, newest] = answer;
    const claimed = { entries, suspects, dueMs, newest: textOf(newest) };
    return { lost: lost.length === 0 ? NO_PLACES : placesOf(lost), claimed };
  }

  async #pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const { system, ear, link } = this.#parts;
    const giveUpAt = system.monotonic() + this.#options.waitMs;
    try {
      for (;;) {
        const { touches } = ear;
        const { entries, suspects, dueMs, newest } = await this.#turns.claim(max);
        this.#tellSuspects(suspects);
        if (entries.length > 0) return entries.map((entry) => toDelivery(entry, this.#handOut, system.now()));
        const leftMs = giveUpAt - system.monotonic();
        if (leftMs <= 0 || signal.aborted || this.#isClosed) return NOTHING;
        await ear.wait(newest, touches, dueMs < 0 ? leftMs : Math.min(leftMs, dueMs), signal);
        if (signal.aborted || this.#isClosed) return NOTHING;
      }
    } catch (error) {
      throw explained(error, link.place);
    }
  }

  #tellSuspects(waiting: number): void {
    if (waiting === this.#suspectsTold) return;
    this.#suspectsTold = waiting;
    this.#options.suspects(waiting);
  }
}

const NO_PLACES: ReadonlySet<number> = new Set();

function nameOf(delivery: Delivery): readonly [id: string, token: number] {
  const { id, token } = receiptOf(delivery);
  return [id, token];
}

/** As Lua counts them: from 1. */
function placesOf(places: unknown): ReadonlySet<number> {
  return new Set((places as readonly number[]).map((place) => place - 1));
}

function letterOf({ delivery, evidence }: Extract<Settlement, { verb: 'deadLetter' }>): readonly Value[] {
  const { message } = delivery;
  const letter = { ...message, headers: withEvidence(message.headers, evidence) };
  return fieldsOf(letter, message.id ?? receiptOf(delivery).id);
}
