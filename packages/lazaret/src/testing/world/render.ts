import type { Scenario } from './scenario.ts';
import type { Step } from './trace.ts';
import type { Story } from './world.ts';

/** The whole of a story for a reader: what was planned, what happened, and what should not have. */
export function renderStory(story: Story, only?: number): string {
  const { scenario, trace, violations } = story;
  const steps = trace.steps.filter(({ message }) => only === undefined || message === undefined || message === only);
  return [
    renderScenario(scenario),
    '',
    ...steps.map(renderStep),
    '',
    ...violations.map(({ invariant, rule, at, what }) => `${invariant} at ${clock(at)}: ${what}; but ${rule}`),
    `trace ${trace.hash}`,
  ].join('\n');
}

export function renderScenario({ server, queues, messages, faults, ...rest }: Scenario): string {
  return [
    JSON.stringify({ server, ...rest }),
    ...queues.map((queue) => JSON.stringify(queue)),
    ...messages.map(({ index, script, ...plan }) => `m${index} ${JSON.stringify(plan)} ${JSON.stringify(script)}`),
    ...faults.map(({ at, ...fault }) => `${clock(at)} ${JSON.stringify(fault)}`),
  ].join('\n');
}

function renderStep({ at, who, what, message, note }: Step): string {
  const about = message === undefined ? '' : `m${message}`;
  return `${clock(at)}  ${who.padEnd(8)}  ${about.padEnd(4)}  ${what}${note === undefined || note === '' ? '' : `: ${note}`}`;
}

function clock(ms: number): string {
  return `${(ms / 1000).toFixed(3).padStart(9)} s`;
}
