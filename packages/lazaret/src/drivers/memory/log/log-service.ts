import type { Delivery, Extension, Settlement, SettleResult, SubscribeOptions } from '../../../ports/broker.ts';
import type { History, Journal, Start } from '../../../ports/journal.ts';
import type { Client } from '../client.ts';
import { sendCopy } from '../copies.ts';
import { exchange } from '../exchange.ts';
import { Alarm } from '../server-clock.ts';
import type { World } from '../shape.ts';
import { handedCopy, letterCopy, type Past, pastOf, retryCopy } from '../stored.ts';
import type { Front, Service } from '../subscription.ts';
import type { LogGroup, Member } from './log-group.ts';
import type { LogPartition, LogRecord, LogTopic } from './log-topic.ts';
import { OwnedPartition } from './owned-partition.ts';

export interface LogServiceParts {
  readonly world: World;
  readonly client: Client;
  readonly queue: string;
  readonly group: LogGroup;
  readonly retries: LogTopic;
  readonly letters: LogTopic;
  /** Whether a dead letter of this key lies in `letters`. */
  readonly isDead: (key: string) => boolean;
  readonly wanted: SubscribeOptions;
}

/** Two starts whose owner vanished, and a message is begun only alone. */
const SUSPECT_CRASHES = 2;

interface LogReceipt {
  /** Its id. */
  readonly partition: string;
  readonly offset: number;
  readonly epoch: number;
}

/** What became of a commit. */
type CommitResult = 'done' | 'lost' | Error;

/**
 * One member of a group. What is begun and what is settled in one turn travels in one commit, and what belongs to a partition's
 * former life is refused here: the server would believe it.
 */
export class LogService implements Service {
  readonly journal: Journal;
  readonly #parts: LogServiceParts;
  readonly #front: Front;
  readonly #self: string;
  /** By the id of the partition. */
  readonly #owned = new Map<string, OwnedPartition>();
  readonly #due: Alarm;
  readonly #arrived = (): void => this.#front.wake();
  #turn = 0;
  #member: Member | undefined;
  #committing: Promise<CommitResult> | undefined;

  constructor(parts: LogServiceParts, front: Front) {
    this.#parts = parts;
    this.#front = front;
    this.#self = parts.world.system.id();
    this.#due = new Alarm(parts.world.clock, () => front.wake());
    this.journal = {
      begin: (starts) => this.#begin(starts),
      end: async () => undefined,
      alive: async () => undefined,
    };
    this.#join();
  }

  // --- handing out ------------------------------------------------------------------------------------------------

  /** From each partition in turn, so that a small pull starves none. */
  take(max: number): readonly Delivery[] {
    const now = this.#parts.world.clock.now();
    const partitions = [...this.#owned.values()];
    const taken: Delivery[] = [];
    for (let empty = 0; taken.length < max && empty < partitions.length; ) {
      const owned = partitions[this.#turn++ % partitions.length]!;
      const record = owned.next(now);
      empty = record === undefined ? empty + 1 : 0;
      if (record !== undefined) taken.push(this.#handOut(owned, record));
    }
    this.#watchDue();
    return taken;
  }

  #handOut(owned: OwnedPartition, record: LogRecord): Delivery {
    const { world, queue, wanted, isDead } = this.#parts;
    const { partition, epoch } = owned;
    const { offset, message } = record;
    const past = pastOf(message.headers, record.appendedAt, wanted.maxAttempts, world.clock.now());
    const { charged, crashes, notBefore = past.notBefore } = owned.mark(offset);
    const receipt: LogReceipt = { partition: partition.id, offset, epoch };
    owned.handOut(record, receipt);
    return {
      message: handedCopy(message),
      source: { queue, position: `${partition.id}@${offset}` },
      receipt,
      attempt: Math.min(past.attempt + charged, wanted.maxAttempts),
      strikes: crashes,
      firstSeenAt: past.firstSeenAt,
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(wanted.order === 'key' && message.key !== undefined && isDead(message.key) ? { blocked: true } : {}),
    };
  }

  /** One timer for whatever falls due next. */
  #watchDue(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const owned of this.#owned.values()) next = Math.min(next, owned.nextDueAt() ?? next);
    this.#due.set(next);
  }

  // --- starting ---------------------------------------------------------------------------------------------------

  async #begin(starts: readonly Start[]): Promise<readonly History[]> {
    await this.#parts.client.connected();
    const histories = starts.map((start) => this.#beginOne(start));
    if (!histories.some(({ begun }) => begun)) return histories;
    const committed = await this.#commit();
    if (committed === 'done') return histories;
    for (const { delivery } of starts) this.#ours(delivery)?.endStart(offsetOf(delivery));
    if (committed instanceof Error) throw committed;
    return histories.map((history) => ({ ...history, begun: false }));
  }

  #beginOne({ delivery, alone }: Start): History {
    const { wanted, world } = this.#parts;
    const owned = this.#ours(delivery);
    if (owned === undefined) return { attempt: delivery.attempt, strikes: 0, begun: false, ended: false };
    const offset = offsetOf(delivery);
    const { charged, crashes } = owned.mark(offset);
    const { attempt } = pastOf(delivery.message.headers, 0, wanted.maxAttempts, world.clock.now());
    const begun = crashes < SUSPECT_CRASHES || alone;
    if (begun) owned.begin(offset, this.#self);
    return { attempt: Math.min(attempt + charged, wanted.maxAttempts), strikes: crashes, begun, ended: false };
  }

  // --- settling ---------------------------------------------------------------------------------------------------

  settle(settlement: Settlement): Promise<SettleResult> | SettleResult {
    const { delivery } = settlement;
    const owned = this.#ours(delivery);
    // n.b. settled before, and the commit failed: nothing is written twice, only committed.
    if (owned === undefined) return this.#isUncommitted(delivery) ? this.#commit() : 'lost';
    const writing = this.#write(settlement);
    return writing === undefined
      ? this.#markAndCommit(owned, settlement)
      : this.#settleAfter(writing, owned, settlement);
  }

  async #settleAfter(
    writing: Promise<'done' | Error>,
    owned: OwnedPartition,
    settlement: Settlement,
  ): Promise<SettleResult> {
    const written = await writing;
    if (written !== 'done') return written;
    return this.#ours(settlement.delivery) === owned ? this.#markAndCommit(owned, settlement) : 'lost';
  }

  #markAndCommit(owned: OwnedPartition, settlement: Settlement): Promise<SettleResult> {
    this.#mark(owned, settlement);
    this.#front.wake();
    return this.#commit();
  }

  /** Copies are confirmed before anything is marked. */
  #write(settlement: Settlement): Promise<'done' | Error> | undefined {
    const { world, client, retries, letters } = this.#parts;
    const { delivery } = settlement;
    switch (settlement.verb) {
      case 'retry': {
        const { delayMs, notBefore } = settlement;
        const past: Past = { attempt: delivery.attempt + 1, firstSeenAt: delivery.firstSeenAt, notBefore };
        const copy = retryCopy(delivery, this.#idOf(delivery), past);
        return sendCopy(world, client, () => retries.append(copy, delayMs));
      }
      case 'deadLetter': {
        const letter = letterCopy(delivery, settlement.evidence, this.#idOf(delivery));
        return sendCopy(world, client, () => letters.append(letter, 0));
      }
      default:
        return undefined;
    }
  }

  #mark(owned: OwnedPartition, settlement: Settlement): void {
    const { clock } = this.#parts.world;
    const offset = offsetOf(settlement.delivery);
    switch (settlement.verb) {
      case 'hold':
        owned.hold(offset, clock.now() + settlement.delayMs);
        if (settlement.charged) owned.charge(offset, this.#chargedHere(settlement.delivery));
        return;
      case 'release':
        owned.giveBack(offset, clock.now() + settlement.delayMs, settlement.notBefore);
        return;
      default:
        owned.finish(offset);
    }
  }

  /** Failures of this record since its copy was written, the one that is being settled included. */
  #chargedHere({ message, attempt }: Delivery): number {
    const { wanted, world } = this.#parts;
    return attempt - pastOf(message.headers, 0, wanted.maxAttempts, world.clock.now()).attempt + 1;
  }

  extend({ delivery }: Extension): SettleResult {
    return this.#ours(delivery) === undefined ? 'lost' : 'done';
  }

  #ours({ receipt }: Delivery): OwnedPartition | undefined {
    const { partition, offset, epoch } = receipt as LogReceipt;
    const owned = this.#owned.get(partition);
    return owned?.epoch === epoch && owned.has(offset) ? owned : undefined;
  }

  #isUncommitted({ receipt }: Delivery): boolean {
    const { partition, offset, epoch } = receipt as LogReceipt;
    const owned = this.#owned.get(partition);
    return owned?.epoch === epoch && owned.isDirty && owned.isFinished(offset);
  }

  /** The first copy of ours gives an id where there was none. */
  #idOf({ message }: Delivery): string {
    return message.id ?? this.#parts.world.system.id();
  }

  // --- committing -------------------------------------------------------------------------------------------------

  /** At the end of the turn, for everything that was marked in it. */
  #commit(): Promise<CommitResult> {
    this.#committing ??= new Promise((resolve) => {
      const member = this.#member;
      this.#parts.world.system.turn(() => {
        this.#committing = undefined;
        resolve(this.#send(member));
      });
    });
    return this.#committing;
  }

  async #send(member: Member | undefined): Promise<CommitResult> {
    const { world, client } = this.#parts;
    if (client.isDead) return new Promise(() => undefined);
    if (member === undefined || member !== this.#member) return 'lost';
    const dirty = [...this.#owned.values()].filter(({ isDirty }) => isDirty);
    const [answer] = await exchange(world, client, 'commit', [dirty], (partitions) =>
      this.#commitNow(member, partitions),
    );
    if (answer === 'done' || answer === 'lost' || answer instanceof Error) return answer;
    return new Error(`the commit: ${answer}`);
  }

  #commitNow(member: Member, partitions: readonly OwnedPartition[]): 'done' | 'lost' {
    for (const owned of partitions) {
      if (!this.#parts.group.commit(member, owned.partition, owned.toCommit())) return 'lost';
      owned.isDirty = false;
    }
    return 'done';
  }

  // --- partitions come and go -------------------------------------------------------------------------------------

  #join(): void {
    const { wanted, group } = this.#parts;
    const member: Member = {
      assigned: (partition, committed, epoch) => {
        this.#owned.set(partition.id, new OwnedPartition(partition, committed, epoch, this.#self, wanted.order));
        partition.readers.add(this.#arrived);
        this.#front.wake();
      },
      revoked: (partition) => this.#giveUp(member, partition),
    };
    this.#member = member;
    group.join(member);
  }

  #giveUp(member: Member, partition: LogPartition): void {
    const { client } = this.#parts;
    const owned = this.#owned.get(partition.id);
    if (owned === undefined) return;
    if (!client.isDead) {
      owned.endAllStarts();
      this.#commitNow(member, [owned]);
    }
    this.#forget(owned);
    this.#front.lose([...owned.receipts()]);
  }

  #forget({ partition }: OwnedPartition): void {
    this.#owned.delete(partition.id);
    partition.readers.delete(this.#arrived);
  }

  #forgetAll(): Member | undefined {
    for (const owned of [...this.#owned.values()]) this.#forget(owned);
    this.#due.off();
    const member = this.#member;
    this.#member = undefined;
    return member;
  }

  // --- what the connection does -----------------------------------------------------------------------------------

  /** The server ends the session at once. */
  cut(): void {
    const member = this.#forgetAll();
    this.#front.loseAll();
    if (member !== undefined) this.#parts.group.leave(member);
  }

  restored(): void {
    this.#join();
  }

  /** n.b. its partitions stay with it until the session ends. */
  died(): void {
    const member = this.#forgetAll();
    if (member !== undefined) this.#parts.group.silent(member);
  }

  leave(): void {
    const member = this.#member;
    if (member === undefined) return;
    for (const owned of [...this.#owned.values()]) this.#giveUp(member, owned.partition);
    this.#forgetAll();
    this.#parts.group.leave(member);
  }
}

function offsetOf({ receipt }: Delivery): number {
  return (receipt as LogReceipt).offset;
}
