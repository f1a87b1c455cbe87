/** Every default of a consumer, as one would write it. The checks, `explain` and the docs read them here; nothing repeats them. */
export const DEFAULTS = {
  maxAttempts: 4,
  backoff: 'standard',
  jitter: '±20%',
  visibilityTimeout: '90s',
  timeout: '15m',
  concurrency: 10,
  ordering: 'none',
  maxBody: '10mb',
  parking: { lane: 100, quarantine: 1000 },
} as const;

/** Where `heartbeat` is not given: every half of the visibility timeout, so that one lost extension costs nothing. */
export const HEARTBEAT_SHARE = 0.5;

/** Of an exponential backoff. */
export const EXPONENTIAL_DEFAULTS = { factor: 2, cap: '1h' } as const;

/** Backoffs by name. One that names `maxAttempts` brings it along; an explicit option wins. */
export const PRESETS = {
  standard: { backoff: ['2s', '8s', '30s'] },
  /** The last delay repeats. */
  ladder: { backoff: ['5s', '15s', '45s'], maxAttempts: 6 },
  exponential: { backoff: { base: '1s', factor: 2, cap: '1h' } },
  patient: { backoff: ['30s', '2m', '10m', '30m'], maxAttempts: 5 },
} as const;

export type PresetName = keyof typeof PRESETS;

/** Strikes from which a message runs only alone, and those that convict it: two crashes alone, or two in processes of its own. */
export const STRIKES = { alone: 2, convict: 4, convictIsolated: 2 } as const;
