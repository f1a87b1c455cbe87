import type { System } from '../../ports/system.ts';
import type { KafkaFailure, Member, Position } from './client.ts';
import type { OwnedPartition } from './owned-partition.ts';

/**
 * Said between two generations of a group (22, 25, 27, 113, 82), while a coordinator moves (14, 15, 16), and while the broker is away
 * (7, and the client's own): a partition that is still ours is committed again.
 */
const PASSING: ReadonlySet<number> = new Set([7, 14, 15, 16, 22, 25, 27, 82, 113, -180, -185, -187, -195, -168, -192]);

const AGAIN_AFTER_MS = 50;
const GIVE_UP_AFTER_MS = 30_000;

/** What begins and what ends in one turn goes out in one commit, and so does all that becomes true while one is on its way. */
export class Committer {
  readonly #system: System;
  readonly #member: Member;
  readonly #partitions: () => Iterable<OwnedPartition>;
  #flying: Promise<unknown> | undefined;
  #next: Promise<'done' | KafkaFailure> | undefined;
  #isOver = false;

  constructor(system: System, member: Member, partitions: () => Iterable<OwnedPartition>) {
    this.#system = system;
    this.#member = member;
    this.#partitions = partitions;
  }

  /** An answer is awaited, and comes only while somebody polls. */
  get isWaiting(): boolean {
    return this.#flying !== undefined;
  }

  /** Commits everything that has changed until the end of this turn. */
  commit(): Promise<'done' | KafkaFailure> {
    this.#next ??= this.#afterThis();
    return this.#next;
  }

  async #afterThis(): Promise<'done' | KafkaFailure> {
    await (this.#flying ?? new Promise<void>((resolve) => this.#system.turn(resolve)));
    this.#next = undefined;
    const flight = this.#send();
    this.#flying = flight;
    try {
      return await flight;
    } finally {
      if (this.#flying === flight) this.#flying = undefined;
    }
  }

  async #send(): Promise<'done' | KafkaFailure> {
    const changed: { readonly owned: OwnedPartition; readonly position: Position }[] = [];
    for (const owned of this.#partitions()) {
      const position = owned.isDirty ? owned.toCommit() : undefined;
      if (position !== undefined) changed.push({ owned, position });
    }
    const giveUpAt = this.#system.monotonic() + GIVE_UP_AFTER_MS;
    for (;;) {
      const ours = changed.filter(({ owned }) => owned.isOurs);
      if (ours.length === 0) return 'done';
      const answer = await this.#member.commit(ours.map(({ position }) => position));
      if (answer === 'done') return 'done';
      if (this.#isOver || !PASSING.has(answer.code) || this.#system.monotonic() >= giveUpAt) {
        for (const { owned } of ours) owned.isDirty = true;
        return answer;
      }
      await new Promise<void>((resolve) => void this.#system.after(AGAIN_AFTER_MS, resolve));
    }
  }

  /** Nothing is tried again. */
  end(): void {
    this.#isOver = true;
  }
}
