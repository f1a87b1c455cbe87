import type { Run } from './run.ts';

/**
 * One lane per ordering key: the head runs, those behind wait. A key that nobody waits behind costs one map entry while it runs.
 * Runs without a key have no lane.
 */
export interface Lanes {
  /** `true`: it heads its key (also when it did before), start it. `false`: it waits. */
  enter(run: Run): boolean;
  /** The run is done; answers the one behind it, which may start now. */
  leave(run: Run): Run | undefined;
  /** The run went where it will come back from, or is dead: answers everyone who waited behind it, in order. */
  scatter(run: Run): readonly Run[];
  readonly waiting: number;
  /** As many wait behind one key as may. */
  readonly full: boolean;
}

/** Where no order is promised everyone heads its key. */
export const noLanes: Lanes = { enter: () => true, leave: () => undefined, scatter: () => [], waiting: 0, full: false };

export function keyLanes(cap: number): Lanes {
  const heads = new Map<string, Run>();
  const queues = new Map<string, Run[]>();
  let waiting = 0;
  let full = 0;

  const join = (key: string, run: Run) => {
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [run]);
    else queue.push(run);
    waiting++;
    if (queues.get(key)!.length === cap) full++;
  };

  const shorten = (key: string, queue: Run[], at: number, count: number): Run[] => {
    if (queue.length >= cap && queue.length - count < cap) full--;
    const taken = queue.splice(at, count);
    if (queue.length === 0) queues.delete(key);
    waiting -= taken.length;
    return taken;
  };

  /** Takes `run` out, and from a lane that it heads `count` of those behind it as well. */
  const takeOut = (run: Run, count: number): Run[] => {
    const { key } = run.delivery.message;
    if (key === undefined) return [];
    const queue = queues.get(key) ?? [];
    if (heads.get(key) !== run) {
      const at = queue.indexOf(run);
      if (at >= 0) shorten(key, queue, at, 1);
      return [];
    }
    heads.delete(key);
    return shorten(key, queue, 0, Math.min(count, queue.length));
  };

  return {
    enter(run) {
      const { key } = run.delivery.message;
      if (key === undefined) return true;
      const head = heads.get(key);
      if (head === undefined) heads.set(key, run);
      if (head === undefined || head === run) return true;
      join(key, run);
      return false;
    },
    leave(run) {
      const [next] = takeOut(run, 1);
      if (next !== undefined) heads.set(next.delivery.message.key!, next);
      return next;
    },
    scatter: (run) => takeOut(run, Number.POSITIVE_INFINITY),
    get waiting() {
      return waiting;
    },
    get full() {
      return full > 0;
    },
  };
}
