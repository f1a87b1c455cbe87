import type { ServerClock } from '../server-clock.ts';
import { type Committed, isDone, NOTHING_COMMITTED } from './log-marks.ts';
import type { LogPartition } from './log-topic.ts';

/** One reader of a group, as the group sees it. */
export interface Member {
  assigned(partition: LogPartition, committed: Committed, epoch: number): void;
  /** In order: it may commit once more before it answers. */
  revoked(partition: LogPartition): void;
}

/** Shares partitions among its members, and keeps what they commit. */
export class LogGroup {
  readonly #partitions: readonly LogPartition[];
  readonly #clock: ServerClock;
  readonly #sessionMs: number;
  readonly #members: Member[] = [];
  readonly #owners = new Map<LogPartition, Member>();
  readonly #committed = new Map<LogPartition, Committed>();
  #epoch = 0;

  constructor(partitions: readonly LogPartition[], clock: ServerClock, sessionMs: number) {
    this.#partitions = partitions;
    this.#clock = clock;
    this.#sessionMs = sessionMs;
  }

  join(member: Member): void {
    this.#members.push(member);
    this.#share();
  }

  /** It has committed what it wants to. */
  leave(member: Member): void {
    const at = this.#members.indexOf(member);
    if (at < 0) return;
    this.#members.splice(at, 1);
    for (const [partition, owner] of this.#owners) if (owner === member) this.#owners.delete(partition);
    this.#share();
  }

  /** Nothing is heard of it any more: noticed when its session ends. */
  silent(member: Member): void {
    this.#clock.after(this.#sessionMs, () => this.leave(member));
  }

  /** Every partition goes to the next member, or back to the only one. */
  rotate(): void {
    for (const [partition, owner] of [...this.#owners]) {
      const next = this.#members[(this.#members.indexOf(owner) + 1) % this.#members.length]!;
      this.#revoke(partition);
      this.#assign(partition, next);
    }
  }

  /** n.b. as on a real server, a member that lost the partition but not its membership is believed. `false`: not a member. */
  commit(member: Member, partition: LogPartition, committed: Committed): boolean {
    if (!this.#members.includes(member)) return false;
    this.#committed.set(partition, committed);
    return true;
  }

  committed(partition: LogPartition): Committed {
    return this.#committed.get(partition) ?? NOTHING_COMMITTED;
  }

  hasDone(partition: LogPartition, offset: number): boolean {
    return isDone(this.committed(partition), offset);
  }

  /** Evenly, and moving as little as possible. */
  #share(): void {
    if (this.#members.length === 0) return;
    const fair = Math.ceil(this.#partitions.length / this.#members.length);
    const counts = new Map(this.#members.map((member) => [member, 0]));
    for (const partition of this.#partitions) {
      const owner = this.#owners.get(partition);
      if (owner === undefined) continue;
      const count = counts.get(owner)!;
      if (count < fair) counts.set(owner, count + 1);
      else this.#revoke(partition);
    }
    for (const partition of this.#partitions) {
      if (this.#owners.has(partition)) continue;
      const [member, count] = [...counts].reduce((least, other) => (other[1] < least[1] ? other : least));
      counts.set(member, count + 1);
      this.#assign(partition, member);
    }
  }

  #revoke(partition: LogPartition): void {
    this.#owners.get(partition)!.revoked(partition);
    this.#owners.delete(partition);
  }

  #assign(partition: LogPartition, member: Member): void {
    this.#owners.set(partition, member);
    member.assigned(partition, this.committed(partition), ++this.#epoch);
  }
}
