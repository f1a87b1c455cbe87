import type { ConsumeOptions } from 'lazaret/core';

/** Options of a consumer as a command line gives them. */
export interface ConsumeFlags {
  readonly maxAttempts?: number;
  /** A preset, or delays: '2s,8s,30s'. */
  readonly backoff?: string;
  readonly jitter?: string;
  readonly visibilityTimeout?: string;
  readonly timeout?: string;
  readonly concurrency?: number;
  readonly ordering?: string;
}

/** The same as `consume` takes them, unchecked: it says itself what is wrong with them. */
export function consumeOptions({ backoff, ...flags }: ConsumeFlags): ConsumeOptions {
  if (backoff === undefined) return flags as ConsumeOptions;
  const isList = /[0-9,]/.test(backoff);
  return { ...flags, backoff: isList ? backoff.split(',').map((delay) => delay.trim()) : backoff } as ConsumeOptions;
}
