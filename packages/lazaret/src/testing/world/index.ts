export { type Campaign, runSeeds } from './campaign.ts';
export { drawScenario } from './draw-scenario.ts';
export { SITUATIONS, type Situation } from './reached.ts';
export type { Invariant, Violation } from './referee.ts';
export { renderScenario, renderStory } from './render.ts';
export type { Scenario } from './scenario.ts';
export { shrink } from './shrink.ts';
export type { Step, Trace } from './trace.ts';
export { happen, type Story, type WorldOptions } from './world.ts';
