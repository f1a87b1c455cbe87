import { LazaretError } from '../../core/errors.ts';
import { HEADER } from '../../core/headers.ts';
import { Pulls } from '../../core/pulls.ts';
import type {
  Delivery,
  Extension,
  Settlement,
  SettleResult,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { History, Journal, Start } from '../../ports/journal.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import type {
  Assigned,
  KafkaClient,
  KafkaFailure,
  KafkaRecord,
  Member,
  OutgoingRecord,
  PartitionId,
  Position,
} from './client.ts';
import { Committer } from './committer.ts';
import { MOST_DEAD_KEYS } from './marks.ts';
import { type Entry, OwnedPartition } from './owned-partition.ts';
import { attemptOf, deliveryOf, dueAtOf, letterCopy, waitingCopy } from './records.ts';
import { closedError, joinError, sendError } from './refusals.ts';
import { type Tier, tierFor } from './tiers.ts';

export interface SubscriptionParts {
  readonly system: System;
  readonly client: KafkaClient;
  readonly queue: string;
  readonly groupId: string;
  readonly tiers: readonly Tier[];
  readonly letters: string;
  readonly wanted: SubscribeOptions;
  readonly maxMessageBytes: number;
  /** How long the first assignment is waited for; others may keep it from us for longer. */
  readonly joinWithinMs: number;
  closed(subscription: KafkaSubscription): void;
}

/** Two starts whose owner vanished, and a message is begun only alone. */
const SUSPECT_CRASHES = 2;

/** Longer waits of what is given back are written to a tier, so that they hold no room here. */
const KEEP_AT_MOST_MS = 10_000;

/** Membership, rebalances and commits live on polling, so an idle consumer polls as well. */
const IDLE_MS = 100;

/** While there is no room each poll brings a record that was not asked for; an answer that is awaited comes before it. */
const ANSWER_MS = 1;

/** What is read and not begun costs nobody anything, so few polls bring much. */
const READ_AHEAD = 100;

/** So far the buffer grows by what was not asked for before partitions are paused. */
const FLOOD = 1_000;

/** Of bodies, beyond which no more are asked for. */
const BUFFER_BYTES = 32 * 1024 ** 2;

const NOTHING: readonly Delivery[] = [];

/** One member of a group: a pump that always polls, a buffer that pulls take from, and one commit in flight. */
export class KafkaSubscription implements Subscription {
  readonly capabilities: Capabilities = CAPABILITIES;
  readonly journal: Journal;
  readonly #parts: SubscriptionParts;
  readonly #self: string;
  readonly #partitions = new Map<string, OwnedPartition>();
  readonly #pulls: Pulls<Delivery>;
  #ready: Entry[] = [];
  #readyBytes = 0;
  #member!: Member;
  #committer!: Committer;
  #pumping: Promise<void> = Promise.resolve();
  #state: 'open' | 'closing' | 'left' = 'open';
  #closing: Promise<void> | undefined;
  #isMore = true;
  #wake: (() => void) | undefined;
  #refusal: KafkaFailure | undefined;
  #joined: ((failure?: KafkaFailure) => void) | undefined;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.#self = parts.system
      .id()
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(-12);
    this.#pulls = new Pulls(parts.system, (max) => this.#take(max));
    this.journal = {
      begin: (starts) => this.#begin(starts),
      end: async () => undefined,
      alive: async () => undefined,
    };
  }

  /** Resolves when the group has answered. Rejects with LZ113x where it refuses us. */
  async open(): Promise<this> {
    const { client, queue, groupId, tiers, system, joinWithinMs } = this.#parts;
    const joined = new Promise<KafkaFailure | undefined>((resolve) => {
      this.#joined = resolve;
    });
    this.#member = await client.join({
      groupId,
      topics: [queue, ...tiers.map(({ name }) => name)],
      assigned: (partitions) => this.#assigned(partitions),
      revoked: (partitions, isLost, commit) => this.#revoked(partitions, isLost, commit),
      wake: () => {
        this.#isMore = true;
        this.#kick();
      },
      trouble: (failure) => this.#trouble(failure),
    });
    this.#committer = new Committer(system, this.#member, () => this.#partitions.values());
    this.#pumping = this.#pump();
    const cancel = system.after(joinWithinMs, () => this.#joined?.());
    const refusal = await joined;
    cancel();
    this.#joined = undefined;
    if (refusal === undefined) return this;
    await this.close();
    throw joinError(refusal, queue, groupId);
  }

  // --- the pump -----------------------------------------------------------------------------------------------------

  async #pump(): Promise<void> {
    while (this.#state !== 'left') {
      try {
        this.#ripen();
        this.#regulate();
        const room = this.#room();
        if (room <= 0) await this.#nap(this.#committer.isWaiting ? ANSWER_MS : IDLE_MS);
        else if (!this.#isMore) await this.#nap(IDLE_MS);
        this.#isMore = false;
        const records = await this.#member.poll(Math.max(1, room));
        // n.b. a poll that serves an answer may end before it has brought all that is there.
        if (records.length > 0) this.#isMore = true;
        if (this.#state === 'open') this.#read(records);
      } catch (error) {
        this.#trouble(error as KafkaFailure);
        await this.#nap(IDLE_MS);
      }
    }
  }

  #room(): number {
    if (this.#state !== 'open' || this.#readyBytes > BUFFER_BYTES) return 0;
    return Math.max(this.#parts.wanted.prefetch, READ_AHEAD) - this.#ready.length;
  }

  #nap(atMostMs: number): Promise<void> {
    const { system } = this.#parts;
    let dueInMs = atMostMs;
    for (const owned of this.#partitions.values()) {
      const dueAt = owned.nextDueAt();
      if (dueAt !== undefined) dueInMs = Math.min(dueInMs, Math.max(0, Math.ceil(dueAt - system.now())));
    }
    return new Promise((resolve) => {
      const cancel = system.after(dueInMs, () => this.#wake?.());
      this.#wake = () => {
        this.#wake = undefined;
        cancel();
        resolve();
      };
    });
  }

  #kick(): void {
    this.#wake?.();
  }

  /** What is paused loses what the client had fetched ahead, so it is for stalls only; short of that, we ask for less. */
  #regulate(): void {
    const room = this.#room();
    const isFlooded = room < -FLOOD || this.#readyBytes > 2 * BUFFER_BYTES;
    const pausing: PartitionId[] = [];
    const resuming: PartitionId[] = [];
    for (const owned of this.#partitions.values()) {
      const stop = isFlooded || owned.isFull;
      if (stop === owned.isPaused || !(stop || room > 0)) continue;
      owned.isPaused = stop;
      (stop ? pausing : resuming).push({ topic: owned.topic, partition: owned.partition });
    }
    if (pausing.length > 0) this.#member.pause(pausing);
    if (resuming.length > 0) this.#member.resume(resuming);
  }

  #read(records: readonly KafkaRecord[]): void {
    if (records.length === 0) return;
    const { queue, system } = this.#parts;
    const now = system.now();
    for (const record of records) {
      const owned = this.#partitions.get(nameOf(record));
      if (owned === undefined) continue;
      const dueAt = record.topic === queue ? undefined : dueAtOf(record, now);
      const entry = owned.read(record, dueAt, now);
      if (entry !== undefined) this.#buffer(entry);
    }
    this.#pulls.wake();
  }

  #ripen(): void {
    const now = this.#parts.system.now();
    const before = this.#ready.length;
    for (const owned of this.#partitions.values()) {
      for (let ripe = owned.ripe(now); ripe !== undefined; ripe = owned.ripe(now)) this.#buffer(ripe);
    }
    if (this.#ready.length > before) this.#pulls.wake();
  }

  #offer(entry: Entry | undefined): void {
    if (entry === undefined) this.#kick();
    else {
      this.#buffer(entry);
      this.#pulls.wake();
    }
  }

  #buffer(entry: Entry): void {
    this.#ready.push(entry);
    this.#readyBytes += sizeOf(entry);
  }

  /** The client goes on by itself, and tries again; what refuses us is for people to mend, and is told with the next pull. */
  #trouble(failure: KafkaFailure): void {
    if (!REFUSED.has(failure.code)) return;
    if (this.#joined === undefined) this.#refusal = failure;
    else this.#joined(failure);
  }

  // --- partitions come and go ---------------------------------------------------------------------------------------

  #assigned(partitions: readonly Assigned[]): void {
    const { queue, wanted } = this.#parts;
    for (const assigned of partitions) {
      const isOrdered = wanted.order === 'key' && assigned.topic === queue;
      this.#partitions.set(nameOf(assigned), new OwnedPartition(assigned, this.#self, isOrdered));
    }
    this.#joined?.();
    this.#isMore = true;
    this.#kick();
  }

  /** Told before anybody else can own them. */
  #revoked(
    partitions: readonly PartitionId[],
    isLost: boolean,
    commit: (positions: readonly Position[]) => boolean,
  ): void {
    const gone: OwnedPartition[] = [];
    const positions: Position[] = [];
    const out: Delivery[] = [];
    for (const id of partitions) {
      const owned = this.#partitions.get(nameOf(id));
      if (owned === undefined) continue;
      this.#partitions.delete(nameOf(id));
      gone.push(owned);
      const left = owned.giveUp();
      out.push(...left.out);
      if (left.position !== undefined) positions.push(left.position);
    }
    if (gone.length > 0) {
      this.#ready = this.#ready.filter(({ owned }) => owned.isOurs);
      this.#readyBytes = this.#ready.reduce((bytes, entry) => bytes + sizeOf(entry), 0);
    }
    if (out.length > 0 && this.#state === 'open') this.#parts.wanted.lost(out);
    const isCommitted = !isLost && (positions.length === 0 || commit(positions));
    for (const owned of gone) owned.isCommitted = isCommitted;
    this.#kick();
  }

  // --- handing out --------------------------------------------------------------------------------------------------

  pull(max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#state !== 'open') return this.#refuse();
    const refusal = this.#refusal;
    if (refusal !== undefined) {
      this.#refusal = undefined;
      return Promise.reject(joinError(refusal, this.#parts.queue, this.#parts.groupId));
    }
    if (signal.aborted || max <= 0) return Promise.resolve(NOTHING);
    const taken = this.#take(max);
    return taken.length > 0 ? Promise.resolve(taken) : this.#pulls.wait(max, this.#parts.wanted.waitMs, signal);
  }

  #take(max: number): readonly Delivery[] {
    if (this.#ready.length === 0) return NOTHING;
    const now = this.#parts.system.now();
    const wasFull = this.#room() <= 0;
    const taken = this.#ready.splice(0, max).map((entry) => this.#handOut(entry, now));
    if (wasFull) {
      this.#isMore = true;
      this.#kick();
    }
    return taken;
  }

  #handOut(entry: Entry, now: number): Delivery {
    const { queue, wanted } = this.#parts;
    const record = entry.record!;
    this.#readyBytes -= sizeOf(entry);
    const isBlocked = wanted.order === 'key' && record.key !== null && entry.owned.isDead(keyIn(record.key));
    const delivery = deliveryOf(
      record,
      entry,
      { queue, maxAttempts: wanted.maxAttempts },
      { ...known(entry), isBlocked },
      now,
    );
    entry.state = 'out';
    entry.delivery = delivery;
    return delivery;
  }

  // --- starting -----------------------------------------------------------------------------------------------------

  async #begin(starts: readonly Start[]): Promise<readonly History[]> {
    if (this.#state !== 'open') return this.#refuse();
    const histories = starts.map((start) => this.#beginOne(start));
    if (!histories.some(({ begun }) => begun)) return histories;
    const committed = await this.#committer.commit();
    if (committed === 'done') {
      return histories.map((history, i) =>
        entryOf(starts[i]!.delivery).isOurs ? history : { ...history, begun: false },
      );
    }
    for (const [i, { delivery }] of starts.entries()) {
      const entry = entryOf(delivery);
      if (histories[i]!.begun && entry.isOurs) entry.owned.endStart(entry);
    }
    throw committed;
  }

  #beginOne({ delivery, alone }: Start): History {
    const entry = entryOf(delivery);
    if (!entry.isOurs) return { attempt: delivery.attempt, strikes: 0, begun: false, ended: false };
    const begun = alone || entry.crashes < SUSPECT_CRASHES;
    if (begun) entry.owned.begin(entry);
    return { attempt: this.#attemptOf(entry), strikes: entry.crashes, begun, ended: false };
  }

  #attemptOf({ record, charged }: Entry): number {
    const { maxAttempts } = this.#parts.wanted;
    return Math.min(attemptOf(record!, maxAttempts) + charged, maxAttempts);
  }

  // --- settling -----------------------------------------------------------------------------------------------------

  async settle(batch: readonly Settlement[]): Promise<readonly SettleResult[]> {
    if (this.#state !== 'open') return this.#refuse();
    const results = new Array<SettleResult>(batch.length);
    const copying: { readonly index: number; readonly copy: OutgoingRecord }[] = [];
    let isChanged = false;
    for (let index = 0; index < batch.length; index++) {
      const settlement = batch[index]!;
      const entry = entryOf(settlement.delivery);
      results[index] = 'done';
      // n.b. settled before, and the commit failed: nothing is written twice, only committed.
      if (entry.isDone && entry.owned.isOurs && entry.owned.isDirty) isChanged = true;
      else if (!entry.isOurs) results[index] = 'lost';
      else {
        const copy = this.#copyFor(settlement, entry);
        if (copy instanceof Error) results[index] = copy;
        else if (copy === undefined) {
          this.#mark(settlement, entry);
          isChanged = true;
        } else {
          entry.state = 'settling';
          copying.push({ index, copy });
        }
      }
    }
    if (copying.length > 0 && (await this.#copy(batch, copying, results))) isChanged = true;
    if (!isChanged) return results;
    const committed = await this.#committer.commit();
    return results.map((result, i) => (result === 'done' ? outcome(entryOf(batch[i]!.delivery), committed) : result));
  }

  /** Copies are confirmed before anything is marked. Answers whether one was. */
  async #copy(
    batch: readonly Settlement[],
    copying: readonly { readonly index: number; readonly copy: OutgoingRecord }[],
    results: SettleResult[],
  ): Promise<boolean> {
    const sent = await this.#parts.client.send(copying.map(({ copy }) => copy));
    let isChanged = false;
    for (const [at, { index, copy }] of copying.entries()) {
      const settlement = batch[index]!;
      const entry = entryOf(settlement.delivery);
      const result = sent[at]!;
      if (!entry.owned.isOurs) {
        // n.b. the copy is out, and its original comes again: one of the two is too many, and only the id can tell.
        results[index] = 'lost';
        continue;
      }
      entry.state = 'out';
      if (result === 'done') {
        this.#mark(settlement, entry);
        isChanged = true;
      } else results[index] = sendError(result, copy.topic);
    }
    return isChanged;
  }

  /** What goes elsewhere instead of the delivery; `undefined` where it stays, or is done. */
  #copyFor(settlement: Settlement, entry: Entry): OutgoingRecord | Error | undefined {
    const { letters, wanted, maxMessageBytes } = this.#parts;
    const record = entry.record!;
    switch (settlement.verb) {
      case 'retry': {
        const { delivery, delayMs, notBefore } = settlement;
        const attempt = this.#attemptOf(entry) + 1;
        return waitingCopy(record, delivery, this.#wait(delayMs, attempt, notBefore));
      }
      case 'release': {
        const { delivery, delayMs, notBefore } = settlement;
        if (delayMs <= KEEP_AT_MOST_MS || wanted.order === 'key') return undefined;
        return waitingCopy(record, delivery, this.#wait(delayMs, this.#attemptOf(entry), notBefore));
      }
      case 'deadLetter': {
        const { delivery, evidence } = settlement;
        if (wanted.order === 'key' && record.key !== null && !entry.owned.addDeadKey(keyIn(record.key))) {
          return tooManyDeadKeys(entry);
        }
        return letterCopy(record, delivery, evidence, letters, maxMessageBytes);
      }
      default:
        return undefined;
    }
  }

  #wait(delayMs: number, attempt: number, notBefore: number | undefined) {
    const { system, tiers } = this.#parts;
    return { topic: tierFor(tiers, delayMs).name, attempt, dueAt: system.now() + delayMs, notBefore };
  }

  #mark(settlement: Settlement, entry: Entry): void {
    const { owned } = entry;
    const now = this.#parts.system.now();
    switch (settlement.verb) {
      case 'hold':
        // n.b. charged once for each start, however often it is said.
        owned.hold(entry, now + settlement.delayMs, settlement.charged && entry.isOpen ? entry.charged + 1 : undefined);
        return;
      case 'release':
        if (settlement.delayMs <= KEEP_AT_MOST_MS || this.#parts.wanted.order === 'key') {
          this.#offer(owned.giveBack(entry, now + settlement.delayMs, settlement.notBefore, now));
          return;
        }
        this.#finish(entry, now);
        return;
      case 'ack':
        this.#unblock(settlement.delivery, entry);
        this.#finish(entry, now);
        return;
      default:
        this.#finish(entry, now);
    }
  }

  #finish(entry: Entry, now: number): void {
    const next = entry.owned.finish(entry, now);
    if (next !== undefined) this.#offer(next);
  }

  /** A key lives again when a message of it that was put back has come to its end. */
  #unblock({ message: { headers } }: Delivery, { owned, record }: Entry): void {
    if (this.#parts.wanted.order !== 'key' || record!.key === null) return;
    if (headers.some(([name]) => name === HEADER.replay)) owned.removeDeadKey(keyIn(record!.key));
  }

  extend(batch: readonly Extension[]): Promise<readonly SettleResult[]> {
    if (this.#state !== 'open') return this.#refuse();
    return Promise.resolve(batch.map(({ delivery }): SettleResult => (entryOf(delivery).isOurs ? 'done' : 'lost')));
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  /** n.b. what is to be remembered is committed before the client leaves: while it does, it refuses. */
  async #leave(): Promise<void> {
    this.#state = 'closing';
    this.#pulls.end();
    this.#ready = [];
    this.#readyBytes = 0;
    this.#committer.end();
    for (const owned of this.#partitions.values()) owned.endAllStarts();
    this.#kick();
    await this.#committer.commit();
    this.#state = 'left';
    this.#kick();
    await this.#pumping;
    for (const owned of this.#partitions.values()) owned.isOurs = false;
    this.#partitions.clear();
    await this.#member.leave();
    this.#parts.closed(this);
  }

  #refuse(): Promise<never> {
    return Promise.reject(closedError(`consumer of queue '${this.#parts.queue}'`));
  }
}

/** Rights to the group and to a topic, and a group of another kind; and a session that the broker finds too short or too long. */
const REFUSED: ReadonlySet<number> = new Set([29, 30, 31, 23, 24, 26, -169]);

function outcome({ owned, isDone }: Entry, committed: 'done' | KafkaFailure): SettleResult {
  if (!owned.isOurs) return owned.isCommitted && isDone ? 'done' : 'lost';
  return committed;
}

function tooManyDeadKeys({ owned: { topic, partition } }: Entry): Error {
  return new LazaretError(
    'LZ1051',
    `Partition ${partition} of '${topic}' has ${MOST_DEAD_KEYS} dead keys already, and remembers no more.`,
    { hint: 'Put dead letters of this queue back; until then this message waits.' },
  );
}

function known({ charged, crashes, notBefore }: Entry): {
  charged: number;
  crashes: number;
  notBefore: number | undefined;
} {
  return { charged, crashes, notBefore };
}

function sizeOf({ record }: Entry): number {
  return record?.value?.length ?? 0;
}

function entryOf({ receipt }: Delivery): Entry {
  return receipt as Entry;
}

function nameOf({ topic, partition }: PartitionId): string {
  return `${topic}/${partition}`;
}

function keyIn(key: Buffer): string {
  return key.toString('latin1');
}
