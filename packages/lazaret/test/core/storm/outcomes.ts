import type { Failure, Outcome } from '../../../src/core/outcome.ts';
import type { Passage } from '../../../src/core/storm/gate.ts';

export const DONE: Outcome = { kind: 'done' };
export const LEFT: Outcome = { kind: 'givenBack', delayMs: 0, why: 'lost' };

export type FailedOutcome = Extract<Outcome, { kind: 'failed' }>;

/** A failure of its own kind for each name: names make fingerprints. */
export function failed(kind: Failure['kind'], name = 'Error', change: Partial<Failure> = {}): FailedOutcome {
  return {
    kind: 'failed',
    failure: {
      kind,
      reason: kind === 'poison' ? 'poison' : 'exhausted',
      rule: 'a rule',
      error: { name, message: 'no', causes: [] },
      ...change,
    },
  };
}

export function timedOut(kind: Failure['kind'] = 'unknown'): Outcome {
  return { kind: 'timeout', failure: failed(kind, 'DeadlineError').failure };
}

export function passage(message: string | undefined, change: Partial<Passage> = {}): Passage {
  return { message, dependency: undefined, attempt: 1, admitted: true, scope: undefined, enteredAt: 0, ...change };
}
