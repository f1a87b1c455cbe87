import type { Examinee, Need } from './needs.ts';
import type { Trial } from './trial.ts';

/** One sentence about drivers that can be true or false. */
export interface Case {
  readonly name: string;
  readonly needs?: readonly Need[];
  run(trial: Trial): Promise<void>;
}

/** Why the case says nothing about this driver; `undefined` where it does. */
export function notApplicable({ needs = [] }: Case, examinee: Examinee): string | undefined {
  return needs.find((need) => !need.isMet(examinee))?.reason;
}
