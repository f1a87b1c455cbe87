import { breakerOrder } from 'lazaret/core';
import type { Operation } from './operation.ts';
import {
  dependencyInput,
  forInput,
  give,
  type OrderInput,
  type OrderReport,
  orderReport,
  untilText,
  whyInput,
} from './order-report.ts';

const input = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1, description: 'its name' },
    dependency: dependencyInput,
    for: forInput,
    why: whyInput,
  },
  required: ['queue', 'why'],
  additionalProperties: false,
} as const;

type State = 'open' | 'half-open' | 'closed';
type Hold = Operation<OrderInput, OrderReport>;

export const breakerOpen: Hold = hold(
  'open',
  'open',
  'Let nothing of a queue, or of one dependency, through for a while',
);
export const breakerHalfOpen: Hold = hold('half-open', 'half-open', 'Let one message through at a time for a while');
export const breakerClose: Hold = hold('close', 'closed', 'Let everything through for a while, whatever fails');

function hold(verb: string, to: State, summary: string): Hold {
  return {
    name: `breaker ${verb}`,
    summary,
    subject: 'queue',
    input,
    output: orderReport,
    run: (services, { queue, ...said }) =>
      give(
        services,
        queue,
        (options, now) => breakerOrder(to, options, now),
        said,
        (order) => [
          `The breaker of ${about(queue, said.dependency)} is held ${to} ${untilText(order)}.`,
          EFFECT[to],
          ...(said.dependency === undefined ? [OTHERS] : []),
        ],
      ),
  };
}

const EFFECT: Readonly<Record<State, string>> = {
  open: 'Nothing of it starts; what runs goes on to its end, the rest waits in the queue, uncharged. Then it probes with one message.',
  'half-open': 'One message after another starts, whatever it answers. Then it lives by itself.',
  closed: 'Everything starts, whatever fails: an outage is not stopped before then.',
};

const OTHERS = 'Messages that name a dependency are not touched: add --dependency for one, or pause the queue.';

export function about(queue: string, dependency: string | undefined): string {
  return dependency === undefined ? `queue '${queue}'` : `dependency '${dependency}' of queue '${queue}'`;
}
