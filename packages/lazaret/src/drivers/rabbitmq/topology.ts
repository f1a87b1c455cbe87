import { optionError, shown } from '../../core/option-error.ts';
import type { QueueWanted } from '../../ports/broker.ts';
import type { QueueDeclaration } from './amqplib.ts';
import { tiersOf } from './tiers.ts';

/** One queue as we declare it. */
export interface Declared {
  readonly name: string;
  readonly why: string;
  readonly declaration: QueueDeclaration;
}

/** Of the queues that hold messages for work. Tiers, lanes and dead letters are always quorum queues. */
export type QueueType = 'quorum' | 'classic';

/** Far above our own limit: a net for what crashes without end where nobody counts. */
const DELIVERY_LIMIT = 100;

/** n.b. no limit at all is 20 on 4.x, and -1 kills on the first return on 3.10. */
const NEVER_REACHED = 1_000_000_000;

/** So that the names of its helpers are names, too. */
const LONGEST_NAME = 230;

/** Throws LZ1003 for a name that AMQP, or the name of a helper, has no room for. */
export function checkName(queue: string): void {
  if (queue !== '' && Buffer.byteLength(queue) <= LONGEST_NAME) return;
  throw optionError(
    'LZ1003',
    'queue',
    `${shown(queue)} is ${queue === '' ? 'empty' : `longer than ${LONGEST_NAME} bytes`}.`,
    'Give it a shorter name.',
  );
}

/** The names of a queue's helpers. */
export function deadLetterQueue(queue: string, wanted?: string): string {
  return wanted ?? `${queue}.dlq`;
}

export function laneOf(queue: string): string {
  return `${queue}.alone`;
}

/** The queue itself. */
export function mainQueue(queue: string, type: QueueType, deadLetter?: string): Declared {
  return { name: queue, why: 'the queue', declaration: working(type, deadLetterQueue(queue, deadLetter)) };
}

/** What belongs to a queue: dead letters first, since the others overflow into them. */
export function helpersOf(queue: string, { deadLetter, retryDelaysMs }: QueueWanted): readonly Declared[] {
  const letters = deadLetterQueue(queue, deadLetter);
  return [
    { name: letters, why: 'its dead letters', declaration: quorum({ 'x-delivery-limit': NEVER_REACHED }) },
    {
      name: laneOf(queue),
      why: 'messages that may have crashed a process, to be run alone',
      declaration: working('quorum', letters),
    },
    ...tiersOf(queue, retryDelaysMs).map(({ name, delayMs }) => ({
      name,
      why: `retries after ${delayMs} ms`,
      declaration: quorum({ 'x-message-ttl': delayMs, ...overflowingTo(queue) }),
    })),
  ];
}

function working(type: QueueType, letters: string): QueueDeclaration {
  if (type === 'quorum') return quorum({ 'x-delivery-limit': DELIVERY_LIMIT, ...overflowingTo(letters) });
  const toLetters = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': letters };
  return { durable: true, arguments: { 'x-queue-type': 'classic', ...toLetters } };
}

function quorum(rest: QueueDeclaration['arguments']): QueueDeclaration {
  return { durable: true, arguments: { 'x-queue-type': 'quorum', ...rest } };
}

/** Moves at least once. Without `reject-publish` RabbitMQ takes the strategy and silently does not follow it. */
function overflowingTo(queue: string): QueueDeclaration['arguments'] {
  return {
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
}
