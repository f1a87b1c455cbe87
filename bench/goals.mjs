import { interval, median } from './statistics.mjs';

/**
 * A goal has a name, what it takes from one round ({ raw: { rate, … }, lazaret: { … } }), a bound, and how it sums the rounds up.
 * `gate`: below it the bench fails.
 */

/** In-round ratio of one metric between two contestants. */
export function ratio(metric, of, over, bound) {
  return {
    name: `${of} / ${over}`,
    metric,
    unit: 'x',
    of: (round) => (round[of] && round[over] ? round[of][metric] / round[over][metric] : undefined),
    ...bound,
  };
}

/** In-round difference of one metric between two contestants. */
export function difference(metric, of, minus, unit, bound) {
  return {
    name: `${of} - ${minus}`,
    metric,
    unit,
    of: (round) => (round[of] && round[minus] ? round[of][metric] - round[minus][metric] : undefined),
    ...bound,
  };
}

/** The median of the rounds, or the lower end of the 95 % interval of their mean where the goal asks for it. */
export function judge(goal, rounds) {
  const values = rounds.map(goal.of).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  const value = median(values);
  const range = goal.byInterval ? interval(values) : [Math.min(...values), Math.max(...values)];
  const judged = goal.byInterval ? range[0] : value;
  return {
    ...goal,
    value,
    range,
    rounds: values.length,
    ...(Number.isFinite(judged) ? verdict(goal, judged) : {}),
    failed: value < (goal.gate ?? -Infinity),
  };
}

function verdict({ atLeast, atMost }, value) {
  if (atLeast !== undefined) return { met: value >= atLeast, off: value - atLeast };
  if (atMost !== undefined) return { met: value <= atMost, off: value - atMost };
  return {};
}
