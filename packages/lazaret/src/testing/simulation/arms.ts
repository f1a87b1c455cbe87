import type { ConsumeOptions } from '../../core/options.ts';
import type { Mechanism } from '../../core/storm/numbers.ts';

/** A way to retry, for comparison. */
export interface Arm {
  readonly name: string;
  /** For a pool of this size. */
  policy(concurrency: number): ConsumeOptions;
}

const FOR_EVER = 1_000_000_000;
const DOUBLING = { base: '2s', factor: 2, cap: '5m' };

export const OURS: Arm = { name: 'ours', policy: (concurrency) => ({ concurrency }) };

/** What is done without storm control. */
export const NAIVE: readonly Arm[] = [
  naive('fixed 5 s for ever', { backoff: ['5s'], jitter: 'none', maxAttempts: FOR_EVER }),
  naive('exponential, no jitter', { backoff: DOUBLING, jitter: 'none', maxAttempts: FOR_EVER }),
  naive('full jitter', { backoff: DOUBLING, jitter: 'full', maxAttempts: FOR_EVER }),
  naive('2, 8, 30 s alone', { backoff: ['2s', '8s', '30s'], maxAttempts: 4 }),
];

function naive(name: string, waits: ConsumeOptions): Arm {
  return { name, policy: (concurrency) => ({ ...waits, concurrency, storm: false }) };
}

/** Ours, and ours without one mechanism at a time. */
export const ABLATION: readonly Arm[] = [
  OURS,
  ...(['concurrency', 'latency', 'breaker', 'ramp', 'budget', 'guilt', 'fuse', 'systemic'] as const).map(without),
];

function without(mechanism: Exclude<Mechanism, 'rate'>): Arm {
  return {
    name: `without ${mechanism}`,
    policy: (concurrency) => ({ concurrency, storm: { without: [mechanism] } }),
  };
}
