import { backoffRange } from './backoff.ts';
import { formatDuration } from './duration.ts';
import { optionError } from './option-error.ts';
import type { Given } from './option-values.ts';
import type { ConsumerPolicy } from './policy.ts';

/** Throws LZ1004 where options that are right one by one cannot be meant together. `given` tells a wish from a default. */
export function refuseContradictions(given: Given, policy: ConsumerPolicy): void {
  refuseUselessBackoff(given, policy);
  refuseUselessJitter(given, policy);
  refuseOutlivedLease(given, policy);
  if (given.has('parking') && policy.ordering !== 'key') {
    throw contradiction('parking', "has no effect without ordering: 'key'.", "Remove it, or add ordering: 'key'.");
  }
}

function refuseUselessBackoff(given: Given, { maxAttempts }: ConsumerPolicy): void {
  if (maxAttempts === 1) {
    for (const option of ['backoff', 'jitter']) {
      if (!given.has(option)) continue;
      throw contradiction(
        option,
        'has no effect with maxAttempts: 1, the first run alone.',
        'Remove it, or allow more attempts.',
      );
    }
  }
  const list = given.get('backoff');
  if (Array.isArray(list) && list.length > maxAttempts - 1) {
    const what = `${list.length} delays, but maxAttempts: ${maxAttempts} leaves ${maxAttempts - 1} to wait for.`;
    throw contradiction('backoff', what, `Shorten the list, or write maxAttempts: ${list.length + 1}.`);
  }
}

function refuseUselessJitter(given: Given, { backoff, jitter }: ConsumerPolicy): void {
  if (jitter.kind !== 'decorrelated') return;
  const { firstMs, capMs } = backoffRange(backoff);
  if (firstMs === capMs) {
    const what = `'decorrelated' has no room: first and longest delay are both ${formatDuration(firstMs)}.`;
    throw contradiction('jitter', what, "Add a longer delay, or write '±20%'.");
  }
  const written = given.get('backoff') as { factor?: unknown } | undefined;
  if (backoff.kind === 'exponential' && written?.factor !== undefined) {
    throw contradiction('backoff.factor', "has no effect with jitter: 'decorrelated'.", 'Remove one of them.');
  }
}

function refuseOutlivedLease(given: Given, { leaseMs, heartbeatMs, timeoutMs }: ConsumerPolicy): void {
  const lease = formatDuration(leaseMs);
  const timeout = given.has('timeout') ? formatDuration(timeoutMs) : `${formatDuration(timeoutMs)} (default)`;
  if (heartbeatMs === undefined && timeoutMs > leaseMs) {
    const what = `false, while timeout ${timeout} is longer than visibilityTimeout ${lease}: a handler would outlive its lease.`;
    throw contradiction(
      'heartbeat',
      what,
      `Write timeout: '${lease}', a longer visibilityTimeout, or leave the heartbeat on.`,
    );
  }
  if (heartbeatMs !== undefined && heartbeatMs >= leaseMs) {
    const what = `${formatDuration(heartbeatMs)} is not shorter than visibilityTimeout ${lease}: each lease would end before it.`;
    throw contradiction('heartbeat', what, 'Write half of the visibilityTimeout, or leave it out.');
  }
  // A short deadline under a long lease is sensible; a long lease cut by a deadline that nobody wrote is not.
  if (given.has('visibilityTimeout') && !given.has('timeout') && leaseMs > timeoutMs) {
    const what = `${lease} is longer than timeout ${timeout}, at which the handler is stopped.`;
    throw contradiction('visibilityTimeout', what, 'Write the timeout that you want, too.');
  }
}

function contradiction(option: string, what: string, todo: string): Error {
  return optionError('LZ1004', option, what, todo);
}
