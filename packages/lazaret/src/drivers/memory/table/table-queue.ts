import { Heap } from '../../../core/heap.ts';
import { KeyLanes } from '../../../core/key-lanes.ts';
import type { Message } from '../../../core/message.ts';
import type { QueueFacts, SubscribeOptions } from '../../../ports/broker.ts';
import { Alarm, type ServerClock } from '../server-clock.ts';

/** Two starts without outcome, and a row waits to run alone. */
const SUSPECT_STRIKES = 2;

export interface Row {
  readonly sequence: number;
  readonly message: Message;
  readonly publishedAt: number;
  /** Where a dead letter came from. */
  readonly origin: Origin | undefined;
  dueAt: number;
  notBefore: number | undefined;
  leasedUntil: number | undefined;
  /** Raised by every hand-out: a settle that carries an older one is late. */
  token: number;
  failures: number;
  strikes: number;
  deliveries: number;
}

export interface Origin {
  readonly queue: string;
  readonly sequence: number;
}

/** What a hand-out of a row is known by. Never the same object twice. */
export interface RowReceipt {
  readonly sequence: number;
  readonly token: number;
}

/** Who reads from a queue, and wants to hear when something changed. */
export interface Reader {
  wake(): void;
  suspects(waiting: number): void;
}

export interface TableRules {
  /** Whether a lease that ran out counts as a strike. */
  readonly countsStarts: boolean;
  readonly inFlightLimit: number;
}

/** Rows that are claimed with a lease, and come back when it runs out. */
export class TableQueue {
  readonly name: string;
  readonly #clock: ServerClock;
  readonly #rules: TableRules;
  readonly #rows = new Map<number, Row>();
  readonly #waiting = new Heap<Row>((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence));
  /** Due, but behind another row of their key. */
  readonly #parked = new Set<Row>();
  readonly #suspects = new Set<Row>();
  readonly #leases = new Heap<{ readonly row: Row; readonly until: number }>((a, b) => a.until < b.until);
  readonly #lanes = new KeyLanes<Row>();
  readonly #readers: Reader[] = [];
  readonly #alarm: Alarm;
  #sequence = 0;
  #leased = 0;
  #lookPlanned = false;

  constructor(name: string, clock: ServerClock, rules: TableRules) {
    this.name = name;
    this.#clock = clock;
    this.#rules = rules;
    this.#alarm = new Alarm(clock, () => this.#look());
  }

  // --- rows in, rows out ------------------------------------------------------------------------------------------

  insert(message: Message, delayMs: number, origin?: Origin): void {
    const now = this.#clock.now();
    const row: Row = {
      sequence: ++this.#sequence,
      message,
      publishedAt: now,
      origin,
      dueAt: now + delayMs,
      notBefore: undefined,
      leasedUntil: undefined,
      token: 0,
      failures: 0,
      strikes: 0,
      deliveries: 0,
    };
    this.#rows.set(row.sequence, row);
    this.#lanes.enter(message.key, row);
    this.#waiting.push(row);
    this.#planLook();
  }

  /** What is due, in order of due time, then of insertion. Never a suspect; with 'key' only what is first of its key. */
  claim(max: number, leaseMs: number, order: SubscribeOptions['order']): Row[] {
    this.#takeBackLapsed();
    if (order === 'none') this.#unpark();
    const now = this.#clock.now();
    const claimed: Row[] = [];
    while (claimed.length < max && this.#leased < this.#rules.inFlightLimit) {
      const row = this.#waiting.peek();
      if (row === undefined || row.dueAt > now) break;
      this.#waiting.pop();
      if (order === 'key' && !this.#lanes.isFirst(row.message.key, row)) {
        this.#parked.add(row);
        continue;
      }
      this.#lease(row, leaseMs);
      claimed.push(row);
    }
    this.#setAlarm();
    return claimed;
  }

  claimSuspect(leaseMs: number, order: SubscribeOptions['order']): Row | undefined {
    this.#takeBackLapsed();
    const now = this.#clock.now();
    for (const row of this.#suspects) {
      if (row.dueAt > now || (order === 'key' && !this.#lanes.isFirst(row.message.key, row))) continue;
      this.#suspects.delete(row);
      this.#lease(row, leaseMs);
      this.#planLook();
      return row;
    }
    return undefined;
  }

  /** The row of this hand-out, while it is still leased under it. */
  held({ sequence, token }: RowReceipt): Row | undefined {
    const row = this.#rows.get(sequence);
    const isOurs = row?.token === token && row.leasedUntil !== undefined && row.leasedUntil > this.#clock.now();
    return isOurs ? row : undefined;
  }

  // --- what a holder may do with its row --------------------------------------------------------------------------

  extend(row: Row, leaseMs: number): void {
    row.leasedUntil = this.#clock.now() + leaseMs;
    this.#leases.push({ row, until: row.leasedUntil });
    this.#setAlarm();
  }

  remove(row: Row): void {
    this.#rows.delete(row.sequence);
    this.#endLease(row);
    const next = this.#lanes.leave(row.message.key, row);
    if (next === undefined || !this.#parked.delete(next)) return;
    this.#waiting.push(next);
    this.#planLook();
  }

  /** A failure of its own: an outcome, so it clears the strikes. */
  charge(row: Row): void {
    row.failures++;
    row.strikes = 0;
  }

  giveBack(row: Row, delayMs: number, notBefore: number | undefined): void {
    this.#endLease(row);
    row.dueAt = this.#clock.now() + delayMs;
    row.notBefore = notBefore;
    this.#makeVisible(row);
    this.#planLook();
  }

  // --- looking ----------------------------------------------------------------------------------------------------

  /** Whether a dead letter of `key` lies here that came from `queue` before `sequence`. */
  blocks(queue: string, key: string, sequence: number): boolean {
    for (const { origin } of this.#lanes.of(key)) {
      if (origin?.queue === queue && origin.sequence < sequence) return true;
    }
    return false;
  }

  rows(): Iterable<Row> {
    return this.#rows.values();
  }

  facts(): QueueFacts {
    const now = this.#clock.now();
    const counts = { ready: 0, delayed: 0, leased: 0 };
    let oldestAt = Number.POSITIVE_INFINITY;
    for (const { leasedUntil, dueAt, publishedAt } of this.#rows.values()) {
      if (leasedUntil !== undefined && leasedUntil > now) counts.leased++;
      else if (dueAt > now) counts.delayed++;
      else {
        counts.ready++;
        oldestAt = Math.min(oldestAt, publishedAt);
      }
    }
    return { ...counts, ...(counts.ready === 0 ? {} : { oldestAt: Math.floor(oldestAt) }) };
  }

  // --- readers ----------------------------------------------------------------------------------------------------

  attach(reader: Reader): void {
    this.#readers.push(reader);
    this.#planLook();
  }

  detach(reader: Reader): void {
    const at = this.#readers.indexOf(reader);
    if (at >= 0) this.#readers.splice(at, 1);
    this.#setAlarm();
  }

  /** Once all of a batch is in, so that one pull sees the whole of it. */
  #planLook(): void {
    if (this.#lookPlanned || this.#readers.length === 0) return;
    this.#lookPlanned = true;
    queueMicrotask(() => {
      this.#lookPlanned = false;
      this.#look();
    });
  }

  #look(): void {
    this.#takeBackLapsed();
    const suspects = this.#waitingSuspects();
    for (const reader of [...this.#readers]) {
      reader.suspects(suspects);
      reader.wake();
    }
    // Whoever waits longest at the server is not always served first: the next look begins with another reader.
    if (this.#readers.length > 1) this.#readers.push(this.#readers.shift()!);
    this.#setAlarm();
  }

  #waitingSuspects(): number {
    const now = this.#clock.now();
    let waiting = 0;
    for (const { dueAt } of this.#suspects) if (dueAt <= now) waiting++;
    return waiting;
  }

  /** One timer for the queue: the next lease that ends, the next row that falls due, while somebody reads. */
  #setAlarm(): void {
    if (this.#readers.length === 0) {
      this.#alarm.off();
      return;
    }
    const now = this.#clock.now();
    let next = this.#leases.peek()?.until ?? Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#suspects) if (dueAt > now) next = Math.min(next, dueAt);
    // n.b. what is due already is taken by the next pull; a timer for it would ring again and again.
    const dueAt = this.#waiting.peek()?.dueAt ?? now;
    this.#alarm.set(dueAt > now ? Math.min(next, dueAt) : next);
  }

  // --- leases -----------------------------------------------------------------------------------------------------

  #lease(row: Row, leaseMs: number): void {
    row.leasedUntil = this.#clock.now() + leaseMs;
    row.token++;
    row.deliveries++;
    this.#leased++;
    this.#leases.push({ row, until: row.leasedUntil });
    if (this.#leases.size > 1_000 + 4 * this.#leased) {
      this.#leases.retain(({ row: leased, until }) => leased.leasedUntil === until);
    }
  }

  #endLease(row: Row): void {
    row.leasedUntil = undefined;
    this.#leased--;
  }

  /** A lease that ran out is a start whose owner vanished. */
  #takeBackLapsed(): void {
    const now = this.#clock.now();
    for (let lease = this.#leases.peek(); lease !== undefined && lease.until <= now; lease = this.#leases.peek()) {
      this.#leases.pop();
      const { row, until } = lease;
      // n.b. an extension leaves the older entry behind, a settle and a new hand-out leave theirs.
      if (row.leasedUntil !== until) continue;
      this.#endLease(row);
      if (this.#rules.countsStarts) row.strikes++;
      this.#makeVisible(row);
    }
  }

  #makeVisible(row: Row): void {
    if (row.strikes < SUSPECT_STRIKES) {
      this.#waiting.push(row);
      return;
    }
    this.#suspects.add(row);
    // n.b. a claim may be what found it: then no alarm rings for it.
    this.#planLook();
  }

  #unpark(): void {
    for (const row of this.#parked) this.#waiting.push(row);
    this.#parked.clear();
  }
}
