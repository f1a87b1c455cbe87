import type { Capabilities } from 'lazaret';
import {
  type ConsumeOptions,
  consumerOrigins,
  consumerPolicy,
  renderOrigins,
  renderTimetable,
  timetable,
} from 'lazaret/core';
import { type ConsumeFlags, consumeOptions } from './consume-flags.ts';
import { namedQueue } from './named-queue.ts';
import type { Operation, Static } from './operation.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'its name' },
    maxAttempts: { type: 'integer', minimum: 1, description: 'as your consumer has it' },
    backoff: { type: 'string', description: "a preset, or delays: '2s,8s,30s'" },
    jitter: { type: 'string', description: "'±20%', none, full or decorrelated" },
    visibilityTimeout: { type: 'string', description: "lease of a delivery: '90s'" },
    timeout: { type: 'string', description: "deadline of one run: '15m'" },
    ordering: { type: 'string', enum: ['none', 'key'], description: "'key': one after another within a key" },
  },
  required: ['queue'],
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    queue: { type: 'string' },
    maxAttempts: { type: 'integer' },
    waits: {
      type: 'array',
      description: 'the wait after each failed attempt; of more than six the first three and the last',
      items: {
        type: 'object',
        properties: {
          attempt: { type: 'integer' },
          floorMs: { type: 'integer' },
          nominalMs: { type: 'integer' },
          ceilingMs: { type: 'integer' },
        },
        required: ['attempt', 'floorMs', 'nominalMs', 'ceilingMs'],
      },
    },
    worstCaseMs: { type: 'integer', description: 'from the first start to the quarantine' },
    chain: { type: 'string', description: 'attempts and waits on one line' },
    sentences: { type: 'array', items: { type: 'string' } },
  },
  required: ['queue', 'maxAttempts', 'waits', 'worstCaseMs', 'chain', 'sentences'],
} as const;

type Input = Static<typeof input>;
export type Explanation = Static<typeof output>;

export const queuesExplain: Operation<Input, Explanation> = {
  name: 'queues explain',
  summary: 'Say what happens to a message that fails: attempts, waits, and what is promised',
  subject: 'queue',
  input,
  output,
  async run(services, { queue, ...flags }) {
    await namedQueue(services, queue);
    const options = consumeOptions(flags);
    const plan = timetable(consumerPolicy(options));
    const [chain = '', ...sentences] = renderTimetable(plan).split('\n');
    return {
      queue,
      maxAttempts: plan.maxAttempts,
      waits: plan.rows.map(({ attempt, wait: { floorMs, nominalMs, ceilingMs } }) => ({
        attempt,
        floorMs,
        nominalMs,
        ceilingMs,
      })),
      worstCaseMs: plan.worstCaseMs,
      chain,
      sentences: [...sentences, ...promises(await services.capabilities(queue), flags), origins(options)],
    };
  },
};

/** What the broker itself makes true, whoever consumes. */
function promises(capabilities: Capabilities, { ordering }: ConsumeFlags): readonly string[] {
  return [
    `counting: ${counting(capabilities)} · crashes: ${crashes(capabilities)}`,
    `promise: at least once; a repeat is possible after a crash between the effect and its ack`,
    ...(ordering === 'key' ? [order(capabilities)] : []),
  ];
}

function counting({ failures }: Capabilities): string {
  switch (failures) {
    case 'row':
      return 'exact (the row keeps its failures)';
    case 'copy':
      return 'exact (each copy carries its failures)';
    case 'journal':
      return "approximate (the broker's own count, without a journal)";
  }
}

function crashes({ crashEvidence }: Capabilities): string {
  switch (crashEvidence) {
    case 'exact':
      return 'exact (after two it runs alone, four convict it)';
    case 'count':
    case 'flag':
      return 'suspected (it runs alone to prove it)';
    case 'none':
      return 'not seen';
  }
}

function order({ order, retryKeepsOrder }: Capabilities): string {
  if (order === 'none') return 'order: none, this broker cannot promise it';
  return retryKeepsOrder
    ? 'order: by key; a message that waits for its retry keeps its successors waiting'
    : 'order: by key; a message that waits for its retry is held by its consumer';
}

/** The file knows the queue, not the options of those who consume it. */
function origins(options: ConsumeOptions): string {
  const named = consumerOrigins(options).map(({ option, from }) => ({
    option,
    from: from === 'option' ? 'flag' : from,
  }));
  return `${renderOrigins(named)} (a queue does not know its consumers' options: repeat yours as flags)`;
}
