import type { ConsumeOptions } from 'lazaret/core';

/** One way to retry, as options of a consumer. Plain data: it goes to another thread. */
export interface Arm {
  readonly name: string;
  /** What it does, for people. */
  readonly says: string;
  readonly policy: ConsumeOptions;
  /** It tries for ever, whatever comes. */
  readonly isTireless: boolean;
}

export const OURS = 'lazaret';
export const YOURS = 'yours';
export const BOUNDED = 'bounded';

/** As good as never: a message that is tried every few seconds for years. */
const FOR_EVER = 1_000_000_000;
const DOUBLING = { base: '2s', factor: 2, cap: '5m' } as const;

/** What others do, what Lazaret does by default, and what you do where `yours` is given. All of them run `concurrency` handlers at once. */
export function armsOf(concurrency: number, yours?: ConsumeOptions): readonly Arm[] {
  const naive = { concurrency, storm: false, jitter: 'none', maxAttempts: FOR_EVER } as const;
  return [
    { name: 'fixed', says: 'every 5 s, for ever', policy: { ...naive, backoff: ['5s'] }, isTireless: true },
    {
      name: 'exponential',
      says: '2 s, doubling up to 5 min, without jitter, for ever',
      policy: { ...naive, backoff: DOUBLING },
      isTireless: true,
    },
    {
      name: 'full jitter',
      says: 'the same, each wait drawn from all of its time',
      policy: { ...naive, backoff: DOUBLING, jitter: 'full' },
      isTireless: true,
    },
    {
      name: BOUNDED,
      says: 'after 2, 8 and 30 s, then into the quarantine',
      policy: { concurrency, storm: false, maxAttempts: 4, backoff: ['2s', '8s', '30s'] },
      isTireless: false,
    },
    {
      name: OURS,
      says: 'the same waits, with storm control: the defaults',
      policy: { concurrency },
      isTireless: false,
    },
    ...(yours === undefined
      ? []
      : [{ name: YOURS, says: 'as you wrote it', policy: { ...yours, concurrency }, isTireless: false }]),
  ];
}
