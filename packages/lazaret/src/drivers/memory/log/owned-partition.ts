import { Heap } from '../../../core/heap.ts';
import { KeyLanes } from '../../../core/key-lanes.ts';
import type { SubscribeOptions } from '../../../ports/broker.ts';
import { type Committed, type Mark, takeOver, UNMARKED } from './log-marks.ts';
import type { LogPartition, LogRecord } from './log-topic.ts';

interface NotDue {
  readonly dueAt: number;
  readonly record: LogRecord;
}

/** So many records that cannot run yet are kept aside; beyond it the partition stands still until one can. */
const ASIDE_LIMIT = 300;

/** A partition while it is ours: how far it was read, what is in hand, and what is known of each record above the watermark. */
export class OwnedPartition {
  readonly partition: LogPartition;
  readonly epoch: number;
  readonly #order: SubscribeOptions['order'];
  readonly #marks: Map<number, Mark>;
  readonly #inHand = new Map<number, unknown>();
  readonly #notDue = new Heap<NotDue>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.record.offset < b.record.offset),
  );
  readonly #behind = new Set<LogRecord>();
  readonly #lanes = new KeyLanes<LogRecord>();
  #released: LogRecord[] = [];
  #watermark: number;
  #next: number;
  /** Something is marked that was not committed yet. */
  isDirty = false;

  constructor(
    partition: LogPartition,
    committed: Committed,
    epoch: number,
    self: string,
    order: SubscribeOptions['order'],
  ) {
    this.partition = partition;
    this.epoch = epoch;
    this.#order = order;
    this.#marks = takeOver(committed, self);
    this.#watermark = committed.watermark;
    this.#next = committed.watermark;
  }

  // --- reading ----------------------------------------------------------------------------------------------------

  /** The next record that may be handed out at `now`. */
  next(now: number): LogRecord | undefined {
    for (let ripe = this.#ripe(now); ripe !== undefined; ripe = this.#ripe(now)) {
      if (this.#isFirst(ripe)) return ripe;
      this.#behind.add(ripe);
    }
    return this.#released.shift() ?? this.#read(now);
  }

  #ripe(now: number): LogRecord | undefined {
    const next = this.#notDue.peek();
    return next !== undefined && next.dueAt <= now ? this.#notDue.pop()!.record : undefined;
  }

  #read(now: number): LogRecord | undefined {
    while (this.#notDue.size + this.#behind.size < ASIDE_LIMIT) {
      const record = this.partition.records[this.#next];
      if (record === undefined) return undefined;
      this.#next++;
      const mark = this.mark(record.offset);
      if (mark.isDone) continue;
      this.#lanes.enter(record.message.key, record);
      const dueAt = Math.max(record.dueAt, mark.dueAt ?? 0);
      if (dueAt > now) this.#notDue.push({ dueAt, record });
      else if (this.#isFirst(record)) return record;
      else this.#behind.add(record);
    }
    return undefined;
  }

  #isFirst(record: LogRecord): boolean {
    return this.#order === 'none' || this.#lanes.isFirst(record.message.key, record);
  }

  nextDueAt(): number | undefined {
    return this.#notDue.peek()?.dueAt;
  }

  // --- in hand ----------------------------------------------------------------------------------------------------

  handOut({ offset }: LogRecord, receipt: unknown): void {
    this.#inHand.set(offset, receipt);
  }

  has(offset: number): boolean {
    return this.#inHand.has(offset);
  }

  receipts(): Iterable<unknown> {
    return this.#inHand.values();
  }

  // --- marking ----------------------------------------------------------------------------------------------------

  mark(offset: number): Mark {
    return this.#marks.get(offset) ?? UNMARKED;
  }

  begin(offset: number, self: string): void {
    this.#set(offset, { openBy: self });
  }

  /** The start has ended, and cost nothing. */
  endStart(offset: number): void {
    this.#set(offset, { openBy: undefined });
  }

  /** Waits here until `dueAt`; whoever takes the partition over waits for it as well. */
  hold(offset: number, dueAt: number): void {
    this.#set(offset, { openBy: undefined, dueAt });
  }

  /** Ended in a failure, the `charged`-th of this record: an outcome, so it clears the crashes. Said twice, it counts once. */
  charge(offset: number, charged: number): void {
    this.#set(offset, { charged, crashes: 0 });
  }

  /** A wait that was promised is not shortened by giving back. */
  giveBack(offset: number, fromAt: number, notBefore: number | undefined): void {
    const dueAt = Math.max(fromAt, this.mark(offset).dueAt ?? 0);
    this.#set(offset, { openBy: undefined, dueAt, notBefore });
    this.#inHand.delete(offset);
    this.#notDue.push({ dueAt, record: this.partition.records[offset]! });
  }

  finish(offset: number): void {
    this.#set(offset, { ...UNMARKED, isDone: true });
    this.#inHand.delete(offset);
    const record = this.partition.records[offset]!;
    const next = this.#lanes.leave(record.message.key, record);
    if (next !== undefined && this.#behind.delete(next)) this.#released.push(next);
    while (this.mark(this.#watermark).isDone) this.#marks.delete(this.#watermark++);
    // n.b. after a take-over the reading starts behind records that are done; without their marks they would look new.
    this.#next = Math.max(this.#next, this.#watermark);
  }

  isFinished(offset: number): boolean {
    return offset < this.#watermark || this.mark(offset).isDone;
  }

  /** Lost in order, while its owner lives: what was begun and has no outcome ends as a release. */
  endAllStarts(): void {
    for (const [offset, { openBy }] of this.#marks) if (openBy !== undefined) this.endStart(offset);
  }

  #set(offset: number, change: Partial<Mark>): void {
    this.#marks.set(offset, { ...this.mark(offset), ...change });
    this.isDirty = true;
  }

  toCommit(): Committed {
    return { watermark: this.#watermark, marks: new Map(this.#marks) };
  }
}
