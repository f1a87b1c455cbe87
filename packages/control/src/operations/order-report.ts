import { formatDuration, SILENT_MS, type StandingOrder } from 'lazaret/core';
import { namedQueue } from './named-queue.ts';
import type { Static } from './operation.ts';
import type { Services } from './services.ts';
import { timeText } from './time-text.ts';

/** What becomes of everything that is set by hand. */
export const orderReport = {
  type: 'object',
  properties: {
    queue: { type: 'string' },
    dependency: { type: 'string' },
    untilAt: { type: 'string', format: 'date-time', description: 'absent for what is done at once' },
    why: { type: 'string' },
    by: { type: 'string' },
    processes: { type: 'integer', description: 'that consume the queue now, and follow within 2 seconds' },
    effects: { type: 'array', items: { type: 'string' }, description: 'what will happen, in sentences' },
  },
  required: ['queue', 'why', 'by', 'processes', 'effects'],
} as const;

export type OrderReport = Static<typeof orderReport>;

/** For every order. */
export const whyInput = {
  type: 'string',
  minLength: 1,
  description: "the reason, for whoever looks next: 'payments is down, INC-42'",
} as const;
export const forInput = { type: 'string', default: '30m', description: "how long it holds, at most '7d'" } as const;
export const dependencyInput = {
  type: 'string',
  minLength: 1,
  description: 'of this dependency; without it, of what names none',
} as const;

/** What is asked for with each order, beside its queue. */
export interface Said {
  readonly why: string;
  readonly for?: string;
  readonly dependency?: string;
}

export type OrderInput = Said & { readonly queue: string };

/** Writes what `make` makes of what was said; it throws LZ10xx for what cannot be meant. */
export async function give(
  services: Services,
  queue: string,
  make: (options: object, now: number) => StandingOrder,
  said: Said,
  effects: (order: StandingOrder) => readonly string[],
): Promise<OrderReport> {
  await namedQueue(services, queue);
  const order = make({ ...said, by: services.person }, services.now());
  await services.storm.give(queue, order);
  return reportOf(services, queue, order, effects(order));
}

/** What is told of an order that was given, or of one that lifted another. */
async function reportOf(
  services: Services,
  queue: string,
  order: StandingOrder,
  effects: readonly string[],
): Promise<OrderReport> {
  const [state] = await services.storm.look([queue]);
  const processes = state?.chronicle.processes.filter(({ at }) => services.now() - at < SILENT_MS).length ?? 0;
  const { want, untilAt, why, by } = order;
  const dependency = 'dependency' in want ? want.dependency : undefined;
  const lasts = want.set !== 'resumed' && untilAt > order.at;
  return {
    queue,
    ...(dependency === undefined ? {} : { dependency }),
    ...(lasts ? { untilAt: timeText(untilAt) } : {}),
    why,
    by,
    processes,
    effects: [...effects, whoFollows(processes)],
  };
}

function whoFollows(processes: number): string {
  if (processes === 0) return 'No consumer of this queue is running: one that starts within the time finds it so.';
  return `${processes === 1 ? '1 process consumes' : `${processes} processes consume`} it, and within 2 seconds it is so.`;
}

/** 'until 2026-11-30T03:42:44.000Z (30m)' */
export function untilText({ at, untilAt }: StandingOrder): string {
  return `until ${timeText(untilAt)} (${formatDuration(untilAt - at)})`;
}
