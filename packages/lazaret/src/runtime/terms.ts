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
  const { failures, retryKeepsOrder, release, maxDelayMs, delayGrainMs } = capabilities;
  const { delayCapAt } = run.delivery;
  return {
    failures,
    retryKeepsOrder,
    release,
    maxDelayMs,
    delayGrainMs,
    ordering: policy.ordering,
    leaseLeftMs:
      (capabilities.lease ? run.pulledAt + policy.timeoutMs : brokersCap(run, capabilities)) - system.monotonic(),
    holdRoom: slots.holdRoom,
    now: system.now(),
    ...(delayCapAt === undefined ? {} : { delayCapAt }),
    draw: system.random(),
  };
}

/** Monotonic: where a broker without leases takes back what is held too long, we stop at 0.8 of what it leaves. */
export function brokersCap(run: Run, capabilities: Capabilities): number {
  const { leaseMs } = run.delivery;
  return capabilities.lease || leaseMs === undefined ? Number.POSITIVE_INFINITY : run.pulledAt + 0.8 * leaseMs;
}
