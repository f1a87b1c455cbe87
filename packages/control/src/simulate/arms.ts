import type { ConsumeOptions } from 'lazaret/core';

/** One way to retry, as options of a consumer. Plain data: it goes to another thread. */
export interface Arm {
  readonly name: string;
  /** What it does, for people. */
  readonly says: string;
  readonly policy: ConsumeOptions;
}

/** As good as never: a message that is tried every few seconds for years. */
const FOR_EVER = 1_000_000;
const EXPONENTIAL = { base: '2s', cap: '5m' } as const;

/** What others do, what Lazaret does by default, and what you do where `yours` is given. All of them run `concurrency` handlers at once. */
export function armsOf(concurrency: number, yours?: ConsumeOptions): readonly Arm[] {
  const naive = { concurrency, storm: false, maxAttempts: FOR_EVER } as const;
  return [
    { name: 'fixed', says: 'every 5 s, for ever', policy: { ...naive, backoff: ['5s'], jitter: 'none' } },
    {
      name: 'exponential',
      says: '2 s doubling up to 5 m, no jitter, for ever',
      policy: { ...naive, backoff: EXPONENTIAL, jitter: 'none' },
    },
    {
      name: 'full jitter',
      says: 'the same with full jitter',
      policy: { ...naive, backoff: EXPONENTIAL, jitter: 'full' },
    },
    { name: 'bounded', says: 'after 2 s, 8 s, 30 s, then quarantine', policy: { concurrency, storm: false } },
    { name: 'lazaret', says: 'the same, with storm control', policy: { concurrency } },
    ...(yours === undefined ? [] : [{ name: 'yours', says: 'as you wrote it', policy: { concurrency, ...yours } }]),
  ];
}
