import type { HeaderList } from './message.ts';
import { headerText } from './message.ts';

/** The names that Lazaret writes and reads back. They are honoured from anybody, so they are parsed strictly and clamped. */
export const HEADER = {
  id: 'lazaret-id',
  /** The ordering key, where a broker has no place of its own for it. */
  key: 'lazaret-key',
  attempt: 'lazaret-attempt',
  firstSeen: 'lazaret-first-seen',
  notBefore: 'lazaret-not-before',
  replay: 'lazaret-replay',
  evidence: 'lazaret-evidence',
  encoding: 'lazaret-encoding',
  exchange: 'lazaret-exchange',
  routingKey: 'lazaret-routing-key',
} as const;

/** Written beside the evidence for people and other tools, never read as state. */
export const EVIDENCE_HEADER = {
  originalQueue: 'x-original-queue',
  originalTopic: 'x-original-topic',
  error: 'x-error',
  attempts: 'x-attempts',
  firstSeen: 'x-first-seen',
} as const;

const WHOLE_NUMBER = /^[0-9]{1,15}$/;

/**
 * The attempt that a copy carries, clamped to 1 … `maxAttempts`; 1 where there is none.
 * What cannot be read fails closed: it counts as the last attempt, never as a fresh start.
 */
export function readAttempt(headers: HeaderList, maxAttempts: number): number {
  const text = headerText(headers, HEADER.attempt);
  if (text === undefined) return 1;
  if (!WHOLE_NUMBER.test(text)) return maxAttempts;
  return Math.min(Math.max(Number(text), 1), maxAttempts);
}

/** A time in epoch milliseconds carried by `name`, clamped to `earliest` … `latest`; `undefined` where absent or unreadable. */
export function readTime(headers: HeaderList, name: string, earliest: number, latest: number): number | undefined {
  const text = headerText(headers, name);
  if (text === undefined || !WHOLE_NUMBER.test(text)) return undefined;
  return Math.min(Math.max(Number(text), earliest), latest);
}
