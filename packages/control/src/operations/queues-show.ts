import { Causes } from '../quarantine/causes.ts';
import { namedQueue } from './named-queue.ts';
import type { Operation, Static } from './operation.ts';
import { rowOf } from './queues-ls.ts';
import type { Services } from './services.ts';

const input = {
  type: 'object',
  properties: { queue: { type: 'string', minLength: 1, description: 'its name' } },
  required: ['queue'],
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    queue: { type: 'string' },
    ready: { type: 'integer' },
    delayed: { type: 'integer' },
    leased: { type: 'integer' },
    quarantined: { type: 'integer' },
    oldestAt: { type: 'string', format: 'date-time' },
    approximate: { type: 'boolean' },
    causes: {
      type: 'array',
      description: 'the open letters by cause, the most frequent first',
      items: {
        type: 'object',
        properties: {
          reason: { type: 'string' },
          fingerprint: { type: 'string' },
          count: { type: 'integer' },
          why: { type: 'string' },
          example: { type: 'string', description: 'id of the first message of them' },
        },
        required: ['reason', 'fingerprint', 'count', 'why', 'example'],
      },
    },
    complete: { type: 'boolean', description: 'false: only the oldest letters were grouped' },
  },
  required: ['queue', 'approximate', 'causes', 'complete'],
} as const;

export type QueueDetail = Static<typeof output>;

/** Letters that are looked at to group them. */
const GROUPED = 5_000;
const PAGE = 500;

export const queuesShow: Operation<Static<typeof input>, QueueDetail> = {
  name: 'queues show',
  summary: 'Show one queue, and what lies in its quarantine by cause',
  subject: 'queue',
  input,
  output,
  async run(services, { queue }) {
    const row = rowOf(await namedQueue(services, queue));
    const grouped = await groupOldest(services, queue);
    return { ...row, ...grouped };
  },
};

async function groupOldest(services: Services, queue: string): Promise<Pick<QueueDetail, 'causes' | 'complete'>> {
  const causes = new Causes();
  let looked = 0;
  let after: string | undefined;
  do {
    const page = await services.letters.list({ queue, max: PAGE, ...(after === undefined ? {} : { after }) });
    for (const { id, message, evidence } of page.items) causes.add({ ...evidence, id: message.id ?? id });
    looked += page.items.length;
    after = page.next;
  } while (after !== undefined && looked < GROUPED);
  return { causes: causes.list().map((cause) => ({ ...cause })), complete: after === undefined };
}
