import { fnv1a64 } from '../../core/fnv.ts';
import { Heap } from '../../core/heap.ts';
import { KeyLanes } from '../../core/key-lanes.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { Assigned, KafkaRecord, Position } from './client.ts';
import { FULL_METADATA, type Mark, type MarkAt, MOST_DEAD_KEYS, readMetadata, writeMetadata } from './marks.ts';

/** 'waiting' for its time or for its predecessor, 'ready' to be handed out, 'out' in a process, 'settling' while a copy is on its way. */
export type EntryState = 'waiting' | 'ready' | 'out' | 'settling' | 'done';

/** A record above the watermark; the receipt of its delivery. */
export class Entry implements MarkAt {
  readonly owned: OwnedPartition;
  readonly offset: number;
  /** Let go once it is done. */
  record: KafkaRecord | undefined;
  state: EntryState = 'waiting';
  isOpen = false;
  crashes: number;
  charged: number;
  dueAt: number | undefined;
  notBefore: number | undefined;
  delivery: Delivery | undefined;

  constructor(owned: OwnedPartition, record: KafkaRecord, mark: Mark | undefined) {
    this.owned = owned;
    this.offset = record.offset;
    this.record = record;
    this.crashes = mark?.crashes ?? 0;
    this.charged = mark?.charged ?? 0;
    this.dueAt = mark?.dueAt;
    this.notBefore = mark?.notBefore;
  }

  get isDone(): boolean {
    return this.state === 'done';
  }

  /** In a process, and in a partition that is ours. */
  get isOurs(): boolean {
    return this.state === 'out' && this.owned.isOurs;
  }
}

/** So many records that cannot run yet are kept aside; beyond it the partition stands still until one can. */
const ASIDE_LIMIT = 300;

/** So many records lie between the watermark and what was read last, and no more are read. */
const WINDOW_LIMIT = 5_000;

/** A partition while it is ours: how far it was read, and what is known of each record above the watermark. */
export class OwnedPartition {
  readonly topic: string;
  readonly partition: number;
  /** Something changed that was not committed yet. */
  isDirty = false;
  isOurs = true;
  /** What the last owner's end left committed, when it is no longer ours. */
  isCommitted = false;
  isPaused = false;
  readonly #self: string;
  readonly #ordered: boolean;
  readonly #marks: Map<number, Mark>;
  readonly #deadKeys: Set<string>;
  readonly #notDue = new Heap<Entry>((a, b) => a.dueAt! < b.dueAt! || (a.dueAt === b.dueAt && a.offset < b.offset));
  readonly #behind = new Set<Entry>();
  readonly #lanes = new KeyLanes<Entry>();
  readonly #entries: Entry[] = [];
  /** Those before it are done, and forgotten with the next sweep. */
  #head = 0;
  /** Known from the first record at the latest. */
  #next: number | undefined;
  #metadataLength = 0;

  /** `self` names this member among those who committed. `ordered`: records of one key are handed out one at a time. */
  constructor({ topic, partition, offset, metadata }: Assigned, self: string, ordered: boolean) {
    const { marks, deadKeys } = readMetadata(self, offset ?? 0, metadata);
    this.topic = topic;
    this.partition = partition;
    this.#self = self;
    this.#ordered = ordered;
    this.#marks = new Map(marks);
    this.#deadKeys = new Set(deadKeys);
    this.#next = offset;
  }

  // --- reading ----------------------------------------------------------------------------------------------------

  /** Takes in what was read; answers it where it can be handed out at `now`. `dueAt`: as the record itself says. */
  read(record: KafkaRecord, dueAt: number | undefined, now: number): Entry | undefined {
    // n.b. after a retried fetch; what was read once is known.
    if (this.#next !== undefined && record.offset < this.#next) return undefined;
    this.#next = record.offset + 1;
    const mark = this.#marks.get(record.offset);
    if (mark !== undefined) this.#marks.delete(record.offset);
    const entry = new Entry(this, record, mark);
    this.#entries.push(entry);
    if (mark?.isDone) {
      this.#close(entry);
      return undefined;
    }
    if (dueAt !== undefined) entry.dueAt = Math.max(dueAt, entry.dueAt ?? 0);
    if (this.#ordered) this.#lanes.enter(laneOf(record), entry);
    return this.#offer(entry, now);
  }

  #offer(entry: Entry, now: number): Entry | undefined {
    if (entry.dueAt !== undefined && entry.dueAt > now) {
      this.#notDue.push(entry);
      return undefined;
    }
    if (this.#ordered && !this.#lanes.isFirst(laneOf(entry.record!), entry)) {
      this.#behind.add(entry);
      return undefined;
    }
    entry.state = 'ready';
    return entry;
  }

  /** The next record whose time has come. */
  ripe(now: number): Entry | undefined {
    for (let next = this.#notDue.peek(); next !== undefined && next.dueAt! <= now; next = this.#notDue.peek()) {
      this.#notDue.pop();
      const ready = this.#offer(next, now);
      if (ready !== undefined) return ready;
    }
    return undefined;
  }

  nextDueAt(): number | undefined {
    return this.#notDue.peek()?.dueAt;
  }

  /** Nothing more is to be read for the time being. */
  get isFull(): boolean {
    return (
      this.#notDue.size + this.#behind.size >= ASIDE_LIMIT ||
      this.#entries.length - this.#head >= WINDOW_LIMIT ||
      this.#metadataLength > FULL_METADATA
    );
  }

  /** Of records whose time has not come. */
  get delayed(): number {
    return this.#notDue.size;
  }

  // --- marking ----------------------------------------------------------------------------------------------------

  begin(entry: Entry): void {
    entry.isOpen = true;
    this.isDirty = true;
  }

  /** The start has ended, and cost nothing. */
  endStart(entry: Entry): void {
    entry.isOpen = false;
    this.isDirty = true;
  }

  /** Stays out and runs again at `dueAt`; whoever takes the partition over waits for it as well. */
  hold(entry: Entry, dueAt: number, charged: number | undefined): void {
    entry.isOpen = false;
    entry.dueAt = dueAt;
    if (charged !== undefined) {
      // n.b. a failure is an outcome, so it clears the crashes; said twice, it counts once.
      entry.charged = charged;
      entry.crashes = 0;
    }
    this.isDirty = true;
  }

  /** Answers it where it can be handed out at `now`. A wait that was promised is not shortened by giving back. */
  giveBack(entry: Entry, dueAt: number, notBefore: number | undefined, now: number): Entry | undefined {
    entry.isOpen = false;
    entry.dueAt = Math.max(dueAt, entry.dueAt ?? 0);
    entry.notBefore = notBefore;
    entry.delivery = undefined;
    entry.state = 'waiting';
    this.isDirty = true;
    return this.#offer(entry, now);
  }

  /** Answers the next of its key, where that has waited for it. */
  finish(entry: Entry, now: number): Entry | undefined {
    const lane = this.#ordered ? laneOf(entry.record!) : undefined;
    this.#close(entry);
    const next = this.#lanes.leave(lane, entry);
    return next !== undefined && this.#behind.delete(next) ? this.#offer(next, now) : undefined;
  }

  #close(entry: Entry): void {
    entry.state = 'done';
    entry.isOpen = false;
    entry.record = undefined;
    entry.delivery = undefined;
    this.isDirty = true;
    while (this.#head < this.#entries.length && this.#entries[this.#head]!.isDone) this.#head++;
    if (this.#head > 1_000 && this.#head * 2 > this.#entries.length) {
      this.#entries.splice(0, this.#head);
      this.#head = 0;
    }
  }

  // --- dead keys --------------------------------------------------------------------------------------------------

  isDead(key: string): boolean {
    return this.#deadKeys.size > 0 && this.#deadKeys.has(fnv1a64(key));
  }

  /** `false`: no more can be remembered. */
  addDeadKey(key: string): boolean {
    const hash = fnv1a64(key);
    if (!this.#deadKeys.has(hash) && this.#deadKeys.size >= MOST_DEAD_KEYS) return false;
    this.#deadKeys.add(hash);
    this.isDirty = true;
    return true;
  }

  removeDeadKey(key: string): void {
    if (this.#deadKeys.size > 0 && this.#deadKeys.delete(fnv1a64(key))) this.isDirty = true;
  }

  // --- committing -------------------------------------------------------------------------------------------------

  /** As it stands; `undefined` while nothing was ever read or committed. */
  toCommit(): Position | undefined {
    this.isDirty = false;
    if (this.#next === undefined) return undefined;
    const rest = this.#head === 0 ? this.#entries : this.#entries.slice(this.#head);
    const offset = rest[0]?.offset ?? this.#next;
    const unread = this.#unreadMarks();
    const list = unread.length === 0 ? rest : [...rest, ...unread];
    const metadata = writeMetadata(this.#self, offset, list, [...this.#deadKeys]);
    this.#metadataLength = metadata.length;
    return { topic: this.topic, partition: this.partition, offset, metadata };
  }

  /** Marks of the owner before us, of records that were not read yet. */
  #unreadMarks(): readonly MarkAt[] {
    if (this.#marks.size === 0) return [];
    const next = this.#next!;
    const unread: MarkAt[] = [];
    for (const [offset, mark] of this.#marks) {
      if (offset >= next) unread.push({ ...mark, offset });
      // A record that is not there any more: read past it.
      else this.#marks.delete(offset);
    }
    return unread.sort((a, b) => a.offset - b.offset);
  }

  /** It is no longer ours. Answers what was out, and what to commit: what was begun and has no outcome ends as a release. */
  giveUp(): { readonly out: readonly Delivery[]; readonly position: Position | undefined } {
    this.isOurs = false;
    const out: Delivery[] = [];
    for (let at = this.#head; at < this.#entries.length; at++) {
      const entry = this.#entries[at]!;
      entry.isOpen = false;
      if ((entry.state === 'out' || entry.state === 'settling') && entry.delivery !== undefined) {
        out.push(entry.delivery);
      }
    }
    return { out, position: this.toCommit() };
  }

  /** What was begun and has no outcome ends as a release, before we go. */
  endAllStarts(): void {
    for (let at = this.#head; at < this.#entries.length; at++) {
      const entry = this.#entries[at]!;
      if (entry.isOpen) this.endStart(entry);
    }
  }
}

/** Keys are bytes; as text they are only compared. */
function laneOf({ key }: KafkaRecord): string | undefined {
  return key === null ? undefined : key.toString('latin1');
}
