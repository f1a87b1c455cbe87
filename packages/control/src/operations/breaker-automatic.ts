import { breakerOrder } from 'lazaret/core';
import { about } from './breaker-hold.ts';
import type { Operation } from './operation.ts';
import { dependencyInput, give, type OrderInput, type OrderReport, orderReport, whyInput } from './order-report.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'its name' },
    dependency: dependencyInput,
    why: whyInput,
  },
  required: ['queue', 'why'],
  additionalProperties: false,
} as const;

export const breakerAutomatic: Operation<OrderInput, OrderReport> = {
  name: 'breaker automatic',
  summary: 'Undo what was set of a breaker: it lives by itself again',
  subject: 'queue',
  input,
  output: orderReport,
  run: (services, { queue, ...said }) =>
    give(
      services,
      queue,
      (options, now) => ({ ...breakerOrder('closed', options, now), untilAt: now }),
      said,
      () => [
        `The breaker of ${about(queue, said.dependency)} lives by itself again.`,
        'One that was held open probes with one message, and lets the others follow if that goes well.',
      ],
    ),
};
