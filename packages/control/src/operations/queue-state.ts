import { type Chronicle, SILENT_MS, type Standing, type StandingOrder } from 'lazaret/core';

/** What the processes of a queue and the orders of people say together. */
export type QueueState = 'running' | 'paused' | 'open' | 'half-open' | 'ramping';

/** From the least to the worst. */
const RANK = ['closed', 'ramping', 'half-open', 'open'] as const;
export type BreakerState = (typeof RANK)[number];

/** The processes that have spoken lately. */
export function living({ processes }: Chronicle, now: number): readonly Standing[] {
  return processes.filter(({ at }) => now - at < SILENT_MS);
}

export function standing(orders: readonly StandingOrder[], now: number): readonly StandingOrder[] {
  return orders.filter(({ untilAt }) => untilAt > now);
}

/** The worst of them, and how many of them stand so. */
export function worst(states: readonly BreakerState[]): { readonly state: BreakerState; readonly count: number } {
  const state = RANK[Math.max(0, ...states.map((one) => RANK.indexOf(one)))]!;
  return { state, count: states.filter((one) => one === state).length };
}

/** In one word; `undefined` where nobody consumes the queue and nothing is ordered of it. */
export function stateOf(chronicle: Chronicle, orders: readonly StandingOrder[], now: number): QueueState | undefined {
  const processes = living(chronicle, now);
  if (processes.length === 0) {
    return standing(orders, now).some(({ want }) => want.set === 'paused') ? 'paused' : undefined;
  }
  if (worst(processes.map(({ view }) => view.pause.state)).state !== 'closed') return 'paused';
  const { state } = worst(processes.flatMap(({ view }) => view.scopes.map(({ breaker }) => breaker.state)));
  return state === 'closed' ? 'running' : state;
}
