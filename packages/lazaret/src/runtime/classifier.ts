import { type ClassifyRules, classify } from '../core/classify.ts';
import type { System } from '../ports/system.ts';
import type { Classifier } from './inline.ts';

/** The rules of one consumer: the user's first, then ours. */
export function classifierOf(rules: ClassifyRules, system: System): Classifier {
  return (thrown) => classify(thrown, rules, system.now());
}
