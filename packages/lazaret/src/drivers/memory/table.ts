import type { QueueFacts, SubscribeOptions, Subscription } from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { Client } from './client.ts';
import type { TableOptions } from './options.ts';
import { deadLetterQueue, type Part, type Seen, type Shape, type World } from './shape.ts';
import { MemorySubscription } from './subscription.ts';
import { TableQueue } from './table/table-queue.ts';
import { TableService } from './table/table-service.ts';

const TEN_YEARS_MS = 3_650 * 24 * 3_600_000;

/** Rows with leases: SQLite, PostgreSQL, and with `ghostPolls` SQS. */
export function tableShape(world: World, options: TableOptions): Shape {
  const capabilities = tableCapabilities(options);
  const queues = new Map<string, TableQueue>();

  const queueOf = (name: string): TableQueue => {
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = new TableQueue(name, world.clock, {
        countsStarts: capabilities.starts === 'pull',
        inFlightLimit: capabilities.inFlightLimit ?? Number.POSITIVE_INFINITY,
      });
      queues.set(name, queue);
    }
    return queue;
  };

  return {
    capabilities: () => capabilities,
    parts: (queue, { deadLetter }): readonly Part[] => [
      { name: queue, why: 'the queue' },
      { name: deadLetter ?? deadLetterQueue(queue, {}), why: 'its dead letters' },
    ],
    // The row's id is the broker's, where the message brings none.
    publish: (queue, message, delayMs) => queueOf(queue).insert({ id: world.system.id(), ...message }, delayMs),
    subscribe(client: Client, queue: string, wanted: SubscribeOptions): Subscription {
      const parts = {
        clock: world.clock,
        capabilities,
        queue: queueOf(queue),
        letters: queueOf(deadLetterQueue(queue, wanted)),
        wanted,
        options,
      };
      return new MemorySubscription({
        world,
        client,
        capabilities,
        wanted,
        serve: (front) => new TableService(parts, front),
      });
    },
    facts: (queue): QueueFacts => queueOf(queue).facts(),
    *browse(queue): Iterable<Seen> {
      for (const { sequence, message } of queueOf(queue).rows()) yield { sequence, message };
    },
  };
}

function tableCapabilities({ ghostPolls = false, inFlightLimit, limits }: TableOptions): Capabilities {
  const remembers = ghostPolls
    ? ({ failures: 'journal', starts: 'journal', crashEvidence: 'none' } as const)
    : ({ failures: 'row', starts: 'pull', crashEvidence: 'exact' } as const);
  return {
    ...remembers,
    staleSettle: 'refused',
    order: 'key',
    retryKeepsOrder: true,
    release: 'free',
    maxDelayMs: TEN_YEARS_MS,
    delayGrainMs: 1,
    maxPublishDelayMs: TEN_YEARS_MS,
    lease: true,
    body: 'bytes',
    nullBody: true,
    headerBudgetBytes: 1024 ** 2,
    headerOrder: true,
    nativeExact: true,
    ackAnswered: true,
    ...(inFlightLimit === undefined ? {} : { inFlightLimit }),
    ...limits,
  };
}
