import { LazaretError } from '../../core/errors.ts';
import type { Delivery } from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';

/** Rounded up to the grain, so that nothing is early. */
export function grained(delayMs: number, { delayGrainMs }: Capabilities): number {
  return Math.ceil(Math.max(0, delayMs) / delayGrainMs) * delayGrainMs;
}

/** Refused, not clamped: whoever asks for more than was promised has forgotten to stage it. */
export function checkDelay(delayMs: number, maxDelayMs: number): void {
  if (delayMs <= maxDelayMs) return;
  throw new LazaretError(
    'LZ1003',
    `A delay of ${delayMs} ms is more than the ${maxDelayMs} ms that the queue can hide a message.`,
    {
      hint: 'Stage it: a shorter delay, and notBefore.',
    },
  );
}

/** The longest that this delivery can still be hidden. To give it back at once is possible to the end. */
export function longestDelay({ delayCapAt }: Delivery, { maxDelayMs }: Capabilities, now: number): number {
  return delayCapAt === undefined ? maxDelayMs : Math.min(maxDelayMs, Math.max(0, delayCapAt - now));
}
