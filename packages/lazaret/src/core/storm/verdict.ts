import type { Decision } from '../outcome.ts';

/** What storm control says to an outcome, for `decide` and after it. */
export interface Verdict {
  /** `Facts.charged` of `decide`. */
  readonly charged: boolean;
  /** The next run starts no earlier than this. */
  readonly slowMs: number;
  /** It may not go into the quarantine: it is released after `slowMs`, whatever `decide` would say. */
  readonly fused: boolean;
  /** Why it is not charged, for people; empty where it is. */
  readonly why: string;
}

export const CHARGED: Verdict = { charged: true, slowMs: 0, fused: false, why: '' };

/** What becomes of a delivery when storm control has been heard: no letter that is fused, and no wait shorter than it says. */
export function tempered(decision: Decision, { fused, slowMs }: Verdict): Decision {
  if (fused) return { verb: 'release', delayMs: slowMs };
  if (decision.verb !== 'retry' && decision.verb !== 'release') return decision;
  return slowMs > decision.delayMs ? { verb: decision.verb, delayMs: slowMs } : decision;
}
