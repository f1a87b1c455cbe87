import { type StandingOrder, slotOf, type Want } from 'lazaret/core';
import { namedQueue } from './named-queue.ts';
import type { Operation, Static } from './operation.ts';
import { type BreakerState, living, standing, worst } from './queue-state.ts';
import type { Services, Storm } from './services.ts';
import { timeText } from './time-text.ts';

const input = {
  type: 'object',
  properties: { queue: { type: 'string', minLength: 1, description: 'its name; all of them without it' } },
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    queues: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          queue: { type: 'string' },
          processes: { type: 'integer', description: 'that consume it now' },
          breakers: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                of: {
                  type: 'string',
                  enum: ['queue', 'dependency', 'rest'],
                  description: "'queue': its pause; 'rest': what names no dependency",
                },
                dependency: { type: 'string' },
                state: { type: 'string', enum: ['closed', 'ramping', 'half-open', 'open'] },
                processes: { type: 'integer', description: 'how many of them stand so; the others are better off' },
                why: { type: 'string' },
                by: { type: 'string', description: 'who set it; absent where it lives by itself' },
                untilAt: { type: 'string', format: 'date-time', description: 'when what was set by hand ends' },
                fingerprint: { type: 'string', description: 'what nearly everything fails with' },
                limit: { type: 'integer', description: 'how many may run at once, over all processes' },
                inFlight: { type: 'integer' },
              },
              required: ['of', 'state', 'processes', 'why'],
            },
          },
          fused: { type: 'array', items: { type: 'string' } },
          systemic: { type: 'array', items: { type: 'string' } },
          orders: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                set: { type: 'string', enum: ['paused', 'breaker', 'limit', 'rate'] },
                to: { type: 'string', description: 'the state, the limit or the rate' },
                dependency: { type: 'string' },
                why: { type: 'string' },
                by: { type: 'string' },
                at: { type: 'string', format: 'date-time' },
                untilAt: { type: 'string', format: 'date-time' },
              },
              required: ['set', 'why', 'by', 'at', 'untilAt'],
            },
            description: 'what people set, and until when',
          },
          changes: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                at: { type: 'string', format: 'date-time' },
                process: { type: 'string' },
                what: { type: 'string' },
                about: { type: 'string', description: 'the dependency or fingerprint' },
                forMs: { type: 'integer' },
                byHand: { type: 'boolean' },
                why: { type: 'string' },
              },
              required: ['at', 'process', 'what', 'byHand', 'why'],
            },
            description: 'the newest last',
          },
        },
        required: ['queue', 'processes', 'breakers', 'fused', 'systemic', 'orders', 'changes'],
      },
    },
  },
  required: ['queues'],
} as const;

export type BreakerList = Static<typeof output>;
export type QueueBreakers = BreakerList['queues'][number];
export type BreakerRow = QueueBreakers['breakers'][number];
export type OrderRow = QueueBreakers['orders'][number];

export const breakerShow: Operation<Static<typeof input>, BreakerList> = {
  name: 'breaker show',
  summary: 'Show breakers, limits and pauses: their state, why, who set them, and until when',
  subject: 'queue',
  input,
  output,
  async run(services, { queue }) {
    const queues = queue === undefined ? await allOf(services) : [(await namedQueue(services, queue)).name];
    const storms = await services.storm.look(queues);
    return { queues: storms.map((storm, at) => breakersOf(queues[at]!, storm, services.now())) };
  },
};

async function allOf(services: Services): Promise<readonly string[]> {
  return (await services.queues()).map(({ name }) => name);
}

function breakersOf(queue: string, { orders, chronicle }: Storm, now: number): QueueBreakers {
  const processes = living(chronicle, now);
  const stand = standing(orders, now);
  const all = new Map<string, Gathered>();
  for (const { want } of stand) gatherOrder(all, want);
  for (const { view } of processes) {
    const { state, why, fingerprint } = view.pause;
    gathered(all, undefined, 'queue').seen.push({ state, why, ...(fingerprint === undefined ? {} : { fingerprint }) });
    for (const { dependency, breaker, limit, inFlight } of view.scopes) {
      const { state, why } = breaker;
      gathered(all, dependency, dependency === undefined ? 'rest' : 'dependency').seen.push({
        state,
        why,
        limit,
        inFlight,
      });
    }
  }
  return {
    queue,
    processes: processes.length,
    breakers: [...all.values()].map((one) => rowOf(one, stand)),
    fused: [...new Set(processes.flatMap(({ view }) => view.fused))],
    systemic: [...new Set(processes.flatMap(({ view }) => view.systemic))],
    orders: stand.flatMap(orderOf),
    changes: chronicle.history.map(({ at, ...entry }) => ({
      at: timeText(at),
      process: entry.process,
      what: entry.what,
      ...(entry.about === undefined ? {} : { about: entry.about }),
      ...(entry.forMs === undefined ? {} : { forMs: Math.round(entry.forMs) }),
      byHand: entry.byHand,
      why: entry.why,
    })),
  };
}

/** What the processes say of one breaker. */
interface Gathered {
  readonly of: 'queue' | 'dependency' | 'rest';
  readonly dependency: string | undefined;
  readonly seen: Seen[];
}

interface Seen {
  readonly state: BreakerState;
  readonly why: string;
  readonly fingerprint?: string;
  readonly limit?: number;
  readonly inFlight?: number;
}

/** What is ordered is shown also where nobody follows it. */
function gatherOrder(all: Map<string, Gathered>, want: Want): void {
  if (want.set === 'paused') gathered(all, undefined, 'queue');
  if (want.set === 'breaker') gathered(all, want.dependency, want.dependency === undefined ? 'rest' : 'dependency');
}

function gathered(all: Map<string, Gathered>, dependency: string | undefined, of: Gathered['of']): Gathered {
  const key = `${of} ${dependency ?? ''}`;
  const known = all.get(key) ?? { of, dependency, seen: [] };
  all.set(key, known);
  return known;
}

function rowOf({ of, dependency, seen }: Gathered, orders: readonly StandingOrder[]): BreakerRow {
  const named = dependency === undefined ? {} : { dependency };
  const slot = slotOf(of === 'queue' ? { set: 'paused' } : { set: 'breaker', to: 'open', ...named });
  const order = orders.find(({ want }) => slotOf(want) === slot && want.set !== 'resumed');
  const { state, count } =
    seen.length === 0 ? { state: ordered(order), count: 0 } : worst(seen.map((one) => one.state));
  const first = seen.find((one) => one.state === state);
  const print = first?.fingerprint;
  return {
    of,
    ...named,
    state,
    processes: count,
    why: order?.why ?? first?.why ?? '',
    ...(order === undefined ? {} : { by: order.by, untilAt: timeText(order.untilAt) }),
    ...(print === undefined ? {} : { fingerprint: print }),
    ...(of === 'queue' ? {} : { limit: total(seen, 'limit'), inFlight: total(seen, 'inFlight') }),
  };
}

function ordered(order: StandingOrder | undefined): BreakerState {
  if (order?.want.set === 'breaker') return order.want.to;
  return order === undefined ? 'closed' : 'open';
}

function total(seen: readonly Seen[], what: 'limit' | 'inFlight'): number {
  return Math.round(seen.reduce((sum, one) => sum + (one[what] ?? 0), 0));
}

function orderOf({ want, why, by, at, untilAt }: StandingOrder): readonly OrderRow[] {
  const dependency = 'dependency' in want && want.dependency !== undefined ? { dependency: want.dependency } : {};
  const rest = { why, by, at: timeText(at), untilAt: timeText(untilAt) };
  switch (want.set) {
    case 'paused':
      return [{ set: 'paused', ...rest }];
    case 'breaker':
      return [{ set: 'breaker', to: want.to, ...dependency, ...rest }];
    case 'limit':
      return [{ set: 'limit', to: String(want.limit), ...dependency, ...rest }];
    case 'rate':
      return [{ set: 'rate', to: `${want.rate.count} per ${want.rate.perMs} ms`, ...rest }];
    case 'resumed':
    case 'forgiven':
      return [];
  }
}
