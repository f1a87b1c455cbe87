import { resumeOrder } from 'lazaret/core';
import type { Operation } from './operation.ts';
import { give, type OrderInput, type OrderReport, orderReport, whyInput } from './order-report.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'its name' },
    why: whyInput,
  },
  required: ['queue', 'why'],
  additionalProperties: false,
} as const;

export const queuesResume: Operation<OrderInput, OrderReport> = {
  name: 'queues resume',
  summary: 'End the pause of a queue, whoever or whatever began it',
  subject: 'queue',
  input,
  output: orderReport,
  run: (services, { queue, ...said }) =>
    give(services, queue, resumeOrder, said, () => [
      `Queue '${queue}' is not paused any more.`,
      'A pause that it began by itself begins again if nearly everything still fails with one fingerprint.',
    ]),
};
