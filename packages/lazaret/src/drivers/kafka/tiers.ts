/** A topic in which records wait before they are read again: those of one tier wait about as long. */
export interface Tier {
  readonly delayMs: number;
  readonly name: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Each about four times the one before. A record waits its own time exactly; the tier only says who waits beside it. */
const LADDER: readonly (readonly [text: string, delayMs: number])[] = [
  ['10s', 10 * SECOND],
  ['40s', 40 * SECOND],
  ['3m', 3 * MINUTE],
  ['12m', 12 * MINUTE],
  ['1h', HOUR],
  ['4h', 4 * HOUR],
  ['1d', 24 * HOUR],
];

/** The longest wait of one stage. */
export const LONGEST_DELAY_MS: number = 24 * HOUR;

/** The tiers of a queue, the shortest first: as many as it takes for the longest of the delays, and at least one. */
export function tiersOf(queue: string, group: string, retryDelaysMs: readonly number[] = []): readonly Tier[] {
  const longestMs = Math.max(0, ...retryDelaysMs);
  const needed = LADDER.findIndex(([, delayMs]) => delayMs >= longestMs);
  const tiers = needed < 0 ? LADDER : LADDER.slice(0, needed + 1);
  return tiers.map(([text, delayMs]) => ({ delayMs, name: `${queue}.${group}.retry.${text}` }));
}

/** Where a wait of `delayMs` belongs: the first tier that is not shorter, else the longest. */
export function tierFor(tiers: readonly Tier[], delayMs: number): Tier {
  return tiers.find((tier) => tier.delayMs >= delayMs) ?? tiers[tiers.length - 1]!;
}

export function deadLetterTopic(queue: string, group: string, wanted?: string): string {
  return wanted ?? `${queue}.${group}.dlq`;
}
