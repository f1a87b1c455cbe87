import type { Operation, Static } from './operation.ts';
import { stateOf } from './queue-state.ts';
import type { Queue, Storm } from './services.ts';
import { timeText } from './time-text.ts';

const input = { type: 'object', properties: {}, additionalProperties: false } as const;

const output = {
  type: 'object',
  properties: {
    queues: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          queue: { type: 'string' },
          ready: { type: 'integer', description: 'due now, or waiting behind an earlier message of their key' },
          delayed: { type: 'integer', description: 'waiting for a retry or for their time' },
          leased: { type: 'integer', description: 'handed out' },
          quarantined: { type: 'integer', description: 'open letters' },
          oldestAt: {
            type: 'string',
            format: 'date-time',
            description: 'when the oldest ready message was first seen',
          },
          approximate: { type: 'boolean', description: 'some of the numbers are lower bounds' },
          state: {
            type: 'string',
            enum: ['running', 'paused', 'open', 'half-open', 'ramping'],
            description: 'as its processes say: paused, or how its worst breaker stands; absent where none consumes it',
          },
        },
        required: ['queue', 'approximate'],
      },
    },
  },
  required: ['queues'],
} as const;

export type QueueList = Static<typeof output>;
export type QueueRow = QueueList['queues'][number];

export const queuesLs: Operation<Static<typeof input>, QueueList> = {
  name: 'queues ls',
  summary: 'List the queues: what is ready, delayed, leased and quarantined',
  input,
  output,
  async run(services) {
    const queues = await services.queues();
    const storms = await services.storm.look(queues.map(({ name }) => name));
    return { queues: queues.map((queue, at) => ({ ...rowOf(queue), ...stateIn(storms[at]!, services.now()) })) };
  },
};

function stateIn({ chronicle, orders }: Storm, now: number): Pick<QueueRow, 'state'> {
  const state = stateOf(chronicle, orders, now);
  return state === undefined ? {} : { state };
}

/** What a broker cannot know is left out, not zero. */
export function rowOf({ name, facts }: Queue): QueueRow {
  const { ready, delayed, leased, dead, oldestAt, approximate = false } = facts;
  return {
    queue: name,
    ...(ready === undefined ? {} : { ready }),
    ...(delayed === undefined ? {} : { delayed }),
    ...(leased === undefined ? {} : { leased }),
    ...(dead === undefined ? {} : { quarantined: dead }),
    ...(oldestAt === undefined ? {} : { oldestAt: timeText(oldestAt) }),
    approximate,
  };
}
