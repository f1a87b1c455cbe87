/** The keys of a queue and group. All of them share one hash slot, so that a script may touch them together in a cluster. */
export interface Keys {
  /** The stream itself, under the queue's own name. */
  readonly stream: string;
  /** Sorted set, entry → when its lease ends: what is in somebody's hands. */
  readonly leases: string;
  /** Sorted set, entry → when it is due: what was given back with a wait. */
  readonly waiting: string;
  /** Sorted set, entry → when it came there: what may have crashed a process twice. */
  readonly suspects: string;
  /** Hash, entry → what is remembered of it. */
  readonly counts: string;
  /** Sorted set, number → when it is due: what was sent with a delay, and is in no stream yet. */
  readonly delayed: string;
  /** Hash, number → its packed fields. */
  readonly later: string;
  readonly dead: string;
  /** Remembered dedupe ids begin with it. */
  readonly dedupe: string;
}

export const GROUP = 'lazaret';

export function keysOf(queue: string, group: string | undefined, deadLetter: string | undefined): Keys {
  const tagged = withTag(queue);
  const own = group === undefined ? `${tagged}:lazaret` : `${tagged}:lazaret:${group}`;
  return {
    stream: queue,
    leases: `${own}:leases`,
    waiting: `${own}:waiting`,
    suspects: `${own}:suspects`,
    counts: `${own}:counts`,
    delayed: `${tagged}:lazaret:delayed`,
    later: `${tagged}:lazaret:later`,
    dead: deadLetter ?? (group === undefined ? `${tagged}.dlq` : `${tagged}.${group}.dlq`),
    dedupe: `${tagged}:lazaret:dedupe:`,
  };
}

export function listOf({ stream, leases, waiting, suspects, counts, delayed, later, dead }: Keys): readonly string[] {
  return [stream, leases, waiting, suspects, counts, delayed, later, dead];
}

/** A name with a tag of its own keeps it; else the whole name is the tag. */
function withTag(queue: string): string {
  return /\{[^}]+\}/.test(queue) ? queue : `{${queue}}`;
}
