import { optionError, shown } from '../../core/option-error.ts';
import type { QueueWanted } from '../../ports/broker.ts';
import { deadLetterTopic, tiersOf } from './tiers.ts';

const DAY_MS = 24 * 3_600_000;

/** A topic as we create it. */
export interface Declared {
  readonly name: string;
  readonly why: string;
  readonly config: Readonly<Record<string, string>>;
}

/** Throws LZ1003 for a name that Kafka, or the name of a helper, has no room for. */
export function checkName(name: string, option: string): void {
  if (/^[A-Za-z0-9._-]{1,200}$/.test(name) && name !== '.' && name !== '..') return;
  throw optionError(
    'LZ1003',
    option,
    `${shown(name)} is no name of a topic.`,
    "Write at most 200 letters, digits, '.', '_' and '-'.",
  );
}

/** Who reads a queue. Members of one group are disturbed by each other's comings and goings, also where they read different topics. */
export interface Group {
  /** Kafka's `group.id`. */
  readonly id: string;
  /** As it stands in the names of its topics. */
  readonly name: string;
}

/** Where none is named each queue has a group of its own. */
export function groupOf(queue: string, group: string | undefined): Group {
  return group === undefined ? { id: `lazaret.${queue}`, name: 'lazaret' } : { id: group, name: group };
}

/** What belongs to a queue and a group. All of them have as many partitions as the topic, so that a key keeps its place on the way back. */
export function helpersOf(
  queue: string,
  group: string,
  { deadLetter, retryDelaysMs }: QueueWanted,
): readonly Declared[] {
  return [
    {
      name: deadLetterTopic(queue, group, deadLetter),
      why: `dead letters of group '${group}', kept for 30 days`,
      config: { 'cleanup.policy': 'delete', 'retention.ms': String(30 * DAY_MS) },
    },
    ...tiersOf(queue, group, retryDelaysMs).map(({ name }) => ({
      name,
      why: `retries of group '${group}'`,
      config: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * DAY_MS) },
    })),
  ];
}
