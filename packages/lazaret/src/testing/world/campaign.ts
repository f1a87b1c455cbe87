import { drawScenario } from './draw-scenario.ts';
import { SITUATIONS, type Situation } from './reached.ts';
import { happen, type Story, type WorldOptions } from './world.ts';

/** What came of many seeds. */
export interface Campaign {
  readonly seeds: number;
  /** In the order of their seeds. */
  readonly failed: readonly Story[];
  /** In how many seeds each situation was reached. */
  readonly reached: ReadonlyMap<Situation, number>;
  /** The longest time from the last fault until nothing was left to do, milliseconds. */
  readonly longestCalmMs: number;
  readonly steps: number;
}

/** Lets the worlds of `count` seeds happen, one after another; `seen` hears of each. */
export async function runSeeds(
  from: number,
  count: number,
  seen: (story: Story) => void = () => undefined,
  options: WorldOptions = {},
): Promise<Campaign> {
  const failed: Story[] = [];
  const reached = new Map<Situation, number>(SITUATIONS.map((situation) => [situation, 0]));
  let longestCalmMs = 0;
  let steps = 0;
  for (let seed = from; seed < from + count; seed++) {
    const story = await happen(drawScenario(seed), options);
    if (story.violations.length > 0) failed.push(story);
    for (const situation of story.reached) reached.set(situation, reached.get(situation)! + 1);
    longestCalmMs = Math.max(longestCalmMs, story.calmAfterMs ?? 0);
    steps += story.trace.steps.length;
    seen(story);
  }
  return { seeds: count, failed, reached, longestCalmMs, steps };
}
