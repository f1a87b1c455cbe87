import type { Violation } from './referee.ts';
import type { FaultPlan, MessagePlan, QueuePlan, Scenario } from './scenario.ts';
import { happen, type Story, type WorldOptions } from './world.ts';

/**
 * A smaller scenario that still breaks the rule that `story` broke first: fewer faults, fewer messages, fewer processes, less chance.
 * Tries at most `tries` worlds.
 */
export async function shrink(story: Story, options: WorldOptions = {}, tries = 400): Promise<Story> {
  const broken = story.violations[0];
  if (broken === undefined) return story;
  let best = story;
  let left = tries;

  const attempt = async (candidate: Scenario): Promise<boolean> => {
    if (left-- <= 0) return false;
    const tried = await happen(candidate, options);
    if (!tried.violations.some((violation) => isSame(violation, broken))) return false;
    best = tried;
    return true;
  };

  for (let size = -1; size !== sizeOf(best.scenario) && left > 0; ) {
    size = sizeOf(best.scenario);
    await dropSome(
      () => best.scenario.faults,
      (faults) => attempt({ ...best.scenario, faults }),
    );
    await dropSome(
      () => best.scenario.messages,
      (messages) => attempt({ ...best.scenario, messages }),
    );
    for (const simplify of SIMPLER) {
      const simpler = simplify(best.scenario);
      if (JSON.stringify(simpler) !== JSON.stringify(best.scenario)) await attempt(simpler);
    }
  }
  return best;
}

/** Halves, quarters, … and at last one at a time. */
async function dropSome<T>(
  current: () => readonly T[],
  attempt: (rest: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (let chunk = Math.ceil(current().length / 2); chunk >= 1; chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)) {
    for (let from = 0; from < current().length; ) {
      const list = current();
      if (!(await attempt([...list.slice(0, from), ...list.slice(from + chunk)]))) from += chunk;
    }
  }
}

const SIMPLER: readonly ((scenario: Scenario) => Scenario)[] = [
  (scenario) => ({ ...scenario, processes: 1, faults: scenario.faults.map(inFirstSlot) }),
  (scenario) => ({ ...scenario, latencyMs: [0, 0] }),
  (scenario) => ({ ...scenario, latenessMs: 0 }),
  (scenario) => ({ ...scenario, skewMs: 0 }),
  (scenario) => ({
    ...scenario,
    queues: scenario.queues.slice(0, 1),
    messages: scenario.messages.filter(isInFirst),
    faults: scenario.faults.filter((fault) => fault.kind !== 'rebalance' || fault.queue === 0),
  }),
  (scenario) => ({ ...scenario, queues: scenario.queues.map(withoutBatch) }),
  (scenario) => ({ ...scenario, messages: scenario.messages.map(plain) }),
  (scenario) => ({ ...scenario, quietAt: Math.max(1_000, ...scenario.faults.map(({ at }) => at + 1_000)) }),
];

function inFirstSlot(fault: FaultPlan): FaultPlan {
  return 'slot' in fault ? { ...fault, slot: 0 } : fault;
}

function isInFirst({ queue }: MessagePlan): boolean {
  return queue === 0;
}

function withoutBatch({ batch: _, ...queue }: QueuePlan): QueuePlan {
  return queue;
}

function plain(message: MessagePlan): MessagePlan {
  const { script } = message;
  return { ...message, delayMs: 0, deduped: false, script: { ...script, extendMs: 0 } };
}

function sizeOf(scenario: Scenario): number {
  return JSON.stringify(scenario).length;
}

function isSame(a: Violation, b: Violation): boolean {
  return a.invariant === b.invariant && a.rule === b.rule;
}
