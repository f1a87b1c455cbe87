import { pauseOrder } from 'lazaret/core';
import type { Operation } from './operation.ts';
import { forInput, give, type OrderInput, type OrderReport, orderReport, untilText, whyInput } from './order-report.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'its name' },
    for: forInput,
    why: whyInput,
  },
  required: ['queue', 'why'],
  additionalProperties: false,
} as const;

export const queuesPause: Operation<OrderInput, OrderReport> = {
  name: 'queues pause',
  summary: 'Start nothing more of a queue for a while, in all of its processes',
  subject: 'queue',
  input,
  output: orderReport,
  run: (services, { queue, ...said }) =>
    give(services, queue, pauseOrder, said, (order) => [
      `Queue '${queue}' is paused ${untilText(order)}; then it goes on by itself.`,
      'What runs now goes on to its end; everything else waits in the queue, uncharged.',
    ]),
};
