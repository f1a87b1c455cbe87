import type { Terms } from '../core/placement.ts';
import type { ConsumerPolicy } from '../core/policy.ts';
import type { Capabilities } from '../ports/capabilities.ts';
import type { System } from '../ports/system.ts';
import type { Run } from './run.ts';
import type { Slots } from './slots.ts';

/** How things stand for one run, here and now, for whoever places its decision. */
export function termsOf(
  run: Run,
  capabilities: Capabilities,
  policy: ConsumerPolicy,
  slots: Slots,
  system: System,
): Terms {
  const { failures, retryKeepsOrder, release, maxDelayMs, delayGrainMs, crashEvidence } = capabilities;
  const { delayCapAt } = run.delivery;
  const leftMs =
    Math.min(run.capAt, capabilities.lease ? run.pulledAt + policy.timeoutMs : Number.POSITIVE_INFINITY) -
    system.monotonic();
  return {
    failures,
    retryKeepsOrder,
    release,
    maxDelayMs,
    delayGrainMs,
    ordering: policy.ordering,
    // A run has to fit behind the wait.
    leaseLeftMs: leftMs - Math.min(policy.timeoutMs, leftMs / 3),
    // What was tried alone has an outcome; held, it would be counted with whatever ends this process next.
    holdRoom: slots.holdRoom && !(run.alone && crashEvidence !== 'exact'),
    now: system.now(),
    ...(delayCapAt === undefined ? {} : { delayCapAt }),
    draw: system.random(),
  };
}
