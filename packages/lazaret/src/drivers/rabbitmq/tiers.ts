/** Where a message waits before it comes back: a queue whose messages expire after `delayMs` into the queue they came from. */
export interface Tier {
  readonly delayMs: number;
  readonly name: string;
}

/** There is always one of these: for waits that could not be held. */
const SHORTEST_TIER_MS = 10_000;

/** RabbitMQ refuses a longer expiration. */
const LONGEST_TIER_MS = 2 ** 32 - 1;

/** So much of a wait may be held by whoever gets the message back. */
const HELD_AT_MOST_MS = 10_000;

/** Two tiers are two ends of one jitter, and not of two rungs, where the longer one is at most so many times the shorter. */
const CLOSE = 2;

/** The tiers of a queue, the shortest first. Each belongs to this queue alone: a target that is gone or full stops its tier for everybody. */
export function tiersOf(queue: string, retryDelaysMs: readonly number[] = []): readonly Tier[] {
  const delays = new Set([SHORTEST_TIER_MS]);
  for (const delayMs of retryDelaysMs) if (delayMs >= 1 && delayMs <= LONGEST_TIER_MS) delays.add(Math.round(delayMs));
  return [...delays].sort((a, b) => a - b).map((delayMs) => ({ delayMs, name: tierName(queue, delayMs) }));
}

export function tierName(queue: string, delayMs: number): string {
  return `${queue}.retry.${delayMs}`;
}

export function isTierOf(queue: string, name: string): boolean {
  return name.startsWith(`${queue}.retry.`) && /^[0-9]+$/.test(name.slice(queue.length + 7));
}

/** Which tier a wait goes to, and how much of it is then still left. */
export interface Stay {
  /** `undefined`: none, it goes to the queue at once. */
  readonly tier: Tier | undefined;
  readonly restMs: number;
}

/**
 * One stay per wait. Between two close tiers it is rounded at random in proportion (`draw` is uniform in [0, 1)), so that the
 * waits are as long on average; else it takes the longest tier below, and the rest is left to be held or staged. A wait shorter
 * than all tiers takes the shortest: it was to be held, and there was no room.
 */
export function stayFor(tiers: readonly Tier[], delayMs: number, draw: number): Stay {
  if (delayMs <= 0) return { tier: undefined, restMs: 0 };
  let below: Tier | undefined;
  let above: Tier | undefined;
  for (const tier of tiers) {
    if (tier.delayMs <= delayMs) below = tier;
    else {
      above = tier;
      break;
    }
  }
  if (below === undefined) return { tier: above, restMs: 0 };
  const restMs = delayMs - below.delayMs;
  if (above === undefined || restMs <= HELD_AT_MOST_MS || above.delayMs > CLOSE * below.delayMs) {
    return { tier: below, restMs };
  }
  const part = restMs / (above.delayMs - below.delayMs);
  return { tier: draw < part ? above : below, restMs: 0 };
}
