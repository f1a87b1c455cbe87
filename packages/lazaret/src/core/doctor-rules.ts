import { backoffRange } from './backoff.ts';
import { formatDuration } from './duration.ts';
import type { ConsumerPolicy } from './policy.ts';
import { longestWaits } from './timetable.ts';

/** What is known of what a consumer calls, beside its own options. What is not known is absent, and no rule guesses it. */
export interface Surroundings {
  /** Processes that consume the queue. */
  readonly instances?: number;
  /** Calls that the dependency answers in a second when it is at its worst and still alive. */
  readonly degradedPerSecond?: number;
  /** When the client under the handler gives a call up. */
  readonly clientTimeoutMs?: number;
  /** Runs of one call that the client makes by itself: 3 is one and two retries. */
  readonly clientAttempts?: number;
}

export interface Finding {
  readonly rule: RuleId;
  /** One sentence, with the values. */
  readonly finding: string;
  readonly why: string;
  readonly todo: string;
}

export type RuleId =
  | 'can-collapse'
  | 'layered-retries'
  | 'outage-fills-quarantine'
  | 'retries-for-ever'
  | 'deadline-below-client';

type Rule = (policy: ConsumerPolicy, around: Surroundings) => Omit<Finding, 'rule'> | undefined;

/** Calls that are given up are work for nothing; above this share of what fits into the client's time, they become all of it. */
const SAFE_SHARE = 0.8;

const RULES: Readonly<Record<RuleId, Rule>> = {
  'can-collapse'({ concurrency, storm }, { instances = 1, degradedPerSecond, clientTimeoutMs }) {
    if (degradedPerSecond === undefined || clientTimeoutMs === undefined) return undefined;
    const pool = concurrency * instances;
    const most = Math.floor((SAFE_SHARE * clientTimeoutMs * degradedPerSecond) / 1000);
    const isBounded = !storm.off.includes('concurrency') && !storm.off.includes('breaker');
    if (pool <= most || isBounded) return undefined;
    return {
      finding: `${pool} handlers (${instances} × concurrency ${concurrency}) may wait for a dependency that answers ${degradedPerSecond} calls/s at its worst: the last of them waits ${formatDuration(Math.round((pool / degradedPerSecond) * 10) * 100)}, and its client gives up after ${formatDuration(clientTimeoutMs)}.`,
      why: 'What is answered after it was given up is work for nothing. When most of it is, nothing gets done even after the dependency is well again.',
      todo: `Keep instances × concurrency at ${Math.max(1, most)} or below, or leave adaptive concurrency and the breaker on.`,
    };
  },
  'layered-retries'({ maxAttempts }, { clientAttempts }) {
    if (clientAttempts === undefined || clientAttempts <= 1) return undefined;
    return {
      finding: `The client under the handler tries ${clientAttempts} times by itself, so that one message makes up to ${clientAttempts * maxAttempts} calls.`,
      why: 'Retries of several layers multiply: in an outage they are most of the load, and each hides the failure from the layer above.',
      todo: 'Let exactly one layer retry: set the client to one attempt, and let the queue wait.',
    };
  },
  'outage-fills-quarantine'(policy) {
    if (!policy.storm.off.includes('guilt')) return undefined;
    const lastsMs = longestWaits(policy, policy.maxAttempts - 1);
    return {
      finding: `A dependency that is down for longer than ${formatDuration(lastsMs)} sends healthy messages into the quarantine: each failure is charged, and ${policy.maxAttempts} attempts are all there are.`,
      why: "The attempts of a message should measure its own guilt. An outage is nobody's.",
      todo: "Leave the mechanism 'guilt' of storm control on.",
    };
  },
  'retries-for-ever'({ maxAttempts, backoff, storm }) {
    if (maxAttempts < FOR_EVER || !storm.off.includes('breaker')) return undefined;
    return {
      finding: `${maxAttempts} attempts, one every ${formatDuration(backoffRange(backoff).capMs)} at the latest, and no breaker: an outage is met by the calls of everything that waits.`,
      why: 'The longer it lasts, the more messages knock, until they are the load that keeps the dependency down.',
      todo: 'Leave the breaker on; it stops pulling, and the queue is the buffer.',
    };
  },
  'deadline-below-client'({ timeoutMs }, { clientTimeoutMs }) {
    if (clientTimeoutMs === undefined || timeoutMs > clientTimeoutMs) return undefined;
    return {
      finding: `The handler's timeout, ${formatDuration(timeoutMs)}, ends before its client gives a call up, after ${formatDuration(clientTimeoutMs)}.`,
      why: 'A handler that passes its deadline says nothing about the dependency: it is charged, and the breaker does not see it.',
      todo: `Write a timeout above ${formatDuration(clientTimeoutMs)}, or a shorter one for the client.`,
    };
  },
};

const FOR_EVER = 50;

export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** What an experienced colleague would say about a consumer's options before the first outage does. Pure. */
export function examine(policy: ConsumerPolicy, around: Surroundings = {}): readonly Finding[] {
  return RULE_IDS.flatMap((rule) => {
    const found = RULES[rule](policy, around);
    return found === undefined ? [] : [{ rule, ...found }];
  });
}
