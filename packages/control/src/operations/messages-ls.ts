import { namedQueue } from './named-queue.ts';
import type { Operation, Static } from './operation.ts';
import type { Letter, Services } from './services.ts';
import { timeText } from './time-text.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'only letters of this queue' },
    reason: {
      type: 'string',
      description: 'only letters with this reason',
      enum: [
        'poison',
        'exhausted',
        'handler-timeout',
        'crash',
        'oversize',
        'undecodable',
        'schema',
        'key-payload-mismatch',
        'blocked-key',
        'destination-missing',
        'expired',
        'maxlen',
        'manual',
      ],
    },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'at most so many' },
    after: { type: 'string', description: "go on where an earlier list ended: its 'next'" },
  },
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    messages: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'of the letter' },
          message: { type: 'string', description: 'id of the message' },
          queue: { type: 'string' },
          key: { type: 'string', description: 'ordering key' },
          reason: { type: 'string' },
          attempts: { type: 'integer', description: 'charged attempts' },
          firstSeenAt: { type: 'string', format: 'date-time' },
          deadAt: { type: 'string', format: 'date-time' },
          fingerprint: { type: 'string', description: 'the same for letters with one cause' },
          why: { type: 'string' },
        },
        required: ['id', 'queue', 'reason', 'attempts', 'firstSeenAt', 'deadAt', 'fingerprint', 'why'],
      },
    },
    complete: { type: 'boolean' },
    next: { type: 'string', description: 'for --after, where the list is not complete' },
  },
  required: ['messages', 'complete'],
} as const;

type Input = Static<typeof input>;
export type MessageList = Static<typeof output>;
type MessageRow = MessageList['messages'][number];

export const messagesLs: Operation<Input, MessageList> = {
  name: 'messages ls',
  summary: 'List quarantined messages, the longest dead first',
  input,
  output,
  async run(services, { queue, reason, limit = 50, after }) {
    if (queue !== undefined) await namedQueue(services, queue);
    const { letters, next } = await gather(services, limit, after, {
      ...(queue === undefined ? {} : { queue }),
      ...(reason === undefined ? {} : { reason }),
    });
    const rest = next === undefined ? { complete: true } : { complete: false, next };
    return { messages: letters.map(rowOf), ...rest };
  },
};

/** Pages may come up short where a reason is asked for; enough of them fill the list. */
async function gather(
  services: Services,
  limit: number,
  after: string | undefined,
  query: { readonly queue?: string; readonly reason?: string },
): Promise<{ readonly letters: readonly Letter[]; readonly next: string | undefined }> {
  const letters: Letter[] = [];
  let next = after;
  do {
    const max = limit - letters.length;
    const page = await services.letters.list({ ...query, max, ...(next === undefined ? {} : { after: next }) });
    letters.push(...page.items);
    next = page.next;
  } while (next !== undefined && letters.length < limit);
  return { letters, next };
}

function rowOf({ id, queue, message, evidence }: Letter): MessageRow {
  return {
    id,
    ...(message.id === undefined ? {} : { message: message.id }),
    queue,
    ...(message.key === undefined ? {} : { key: message.key }),
    reason: evidence.reason,
    attempts: evidence.attempts,
    firstSeenAt: timeText(evidence.firstSeenAt),
    deadAt: timeText(evidence.deadAt),
    fingerprint: evidence.fingerprint,
    why: evidence.why,
  };
}
