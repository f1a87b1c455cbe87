import { oneLine } from '../core/clip.ts';
import type { Evidence, Reason } from '../core/evidence.ts';
import { fingerprint } from '../core/fingerprint.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Run } from './run.ts';

const LONGEST_WHY = 500;

/** What is known about a delivery that goes to the dead-letter queue. `deadAt` is epoch milliseconds. */
export function evidenceOf(
  { delivery, deaths }: Run,
  outcome: Outcome,
  reason: Reason,
  deadAt: number,
  version: string | undefined,
): Evidence {
  const error = outcome.kind === 'failed' || outcome.kind === 'timeout' ? outcome.failure.error : undefined;
  const { position, queue } = delivery.source;
  return {
    reason,
    queue,
    attempts: outcome.kind === 'refused' ? delivery.attempt - 1 : delivery.attempt,
    strikes: (delivery.strikes ?? 0) + deaths,
    firstSeenAt: delivery.firstSeenAt,
    deadAt,
    fingerprint: fingerprint({ reason, ...(error === undefined ? {} : { error }) }),
    why: whyOf(outcome),
    ...(error === undefined ? {} : { error }),
    ...(position === undefined ? {} : { position }),
    ...(delivery.deliveries === undefined ? {} : { deliveries: delivery.deliveries }),
    ...(version === undefined ? {} : { version }),
  };
}

/** One line for people. */
export function whyOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'done':
      return '';
    case 'failed':
    case 'timeout': {
      const { name, message } = outcome.failure.error;
      return firstLine(message === '' ? name : `${name}: ${message}`);
    }
    default:
      return firstLine(outcome.why);
  }
}

/** `why` is a handler's word, so it may be anything. It goes into logs and headers. */
function firstLine(why: unknown): string {
  const text = typeof why === 'string' ? why : '';
  const end = text.search(/[\r\n]/);
  return oneLine(end < 0 ? text : text.slice(0, end), LONGEST_WHY);
}
