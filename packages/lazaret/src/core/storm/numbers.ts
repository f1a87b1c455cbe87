/**
 * Every number of storm control. Sources: section 6 of the architecture (A6), part 7 of reliability and security (R7), or the
 * reason at the number. Starting points, to be measured on the real core. Shares lie between 0 and 1, times are milliseconds.
 */
export interface StormNumbers {
  readonly breaker: BreakerNumbers;
  /** The pause of a whole queue lives like a breaker; nothing but the fuse, the systemic rule or a person trips it. */
  readonly pause: BreakerNumbers;
  readonly concurrency: ConcurrencyNumbers;
  readonly budget: BudgetNumbers;
  readonly guilt: GuiltNumbers;
  readonly fuse: FuseNumbers;
  readonly systemic: SystemicNumbers;
  readonly slow: SlowNumbers;
  readonly rate: RateNumbers;
  readonly scopes: ScopeNumbers;
}

export interface BreakerNumbers {
  /** Opens at this share of dependency failures … */
  readonly share: number;
  /** … among at least so many outcomes … */
  readonly least: number;
  /** … of this time. */
  readonly windowMs: number;
  /** How long it stays open first; twice as long after each unhealthy probe … */
  readonly openMs: number;
  /** … up to this, … */
  readonly longestOpenMs: number;
  /** … each time spread by this share, up and down. */
  readonly jitter: number;
  /** A Retry-After lengthens the open time, up to this. */
  readonly longestRetryAfterMs: number;
  /** A probe that has not answered for so long is not waited for: another message may probe. */
  readonly silenceMs: number;
  /** After a healthy probe one more slot every so often; 0: all at once. */
  readonly rampMs: number;
}

export interface ConcurrencyNumbers {
  /** First limit, where the consumer's concurrency is not lower. */
  readonly start: number;
  /** It grows by one after so many answers for each slot that it has; … */
  readonly pace: number;
  /** … and after so many while the median is past the bound, though still fine: what is added then only queues. */
  readonly queueingPace: number;
  /** What a cut leaves of the limit … */
  readonly cut: number;
  /** … at most once in this time. */
  readonly windowMs: number;
  /** The median may grow to this multiple of the baseline before it means queueing. */
  readonly bound: number;
  /** A median below this is never too slow, nor … */
  readonly fineMs: number;
  /** … (where that is less) one below this share of the handler's deadline. */
  readonly fineShare: number;
  /** A median is taken of at least so many successes, or of as many as the limit lets run, but of five. */
  readonly leastSamples: number;
  /** A lower median pulls the baseline down by this share of the difference. */
  readonly baselineShare: number;
}

export interface BudgetNumbers {
  readonly tokens: number;
  readonly cost: number;
  /** Of a retry whose time the dependency named itself. */
  readonly throttledCost: number;
  readonly perSuccess: number;
  readonly perSecond: number;
  /** How fast tokens come in is reckoned from the successes of this time. */
  readonly windowMs: number;
  /** Retries are never starved: none waits longer for its tokens. */
  readonly longestWaitMs: number;
}

export interface GuiltNumbers {
  /** So many other messages of the scope must fail too. */
  readonly others: number;
  readonly windowMs: number;
  /**
   * Where only failures name their dependency, a success does not say whether it used it: so many of them may lie in between.
   * An outage that takes one message in twenty is still seen; three bad messages among thousands of good ones are still charged.
   */
  readonly blindSuccesses: number;
  /** Where this share of messages fails for the first time, among at least so many that end, in this time, chance has a part in it: … */
  readonly share: number;
  readonly least: number;
  readonly shareMs: number;
  /** … a message is charged once chance would make it fail so often with no more than this probability. */
  readonly doubt: number;
  /** Failing messages whose failures are counted. */
  readonly remembered: number;
}

export interface FuseNumbers {
  /** Letters of one fingerprint, in the window or the last ones, … */
  readonly least: number;
  /** … or, once it is fused, so many that were held back: fewer are let go, or the last one would be held back for ever, … */
  readonly leastToStay: number;
  /** … their share of all outcomes meanwhile, … */
  readonly share: number;
  /** … both in this time. */
  readonly windowMs: number;
  /** The share from which the queue is paused. */
  readonly pauseShare: number;
  /** Ends when the share has stayed below for so long. */
  readonly clearMs: number;
  /** Fingerprints that are told apart; of more, those with the fewest letters are forgotten. */
  readonly fingerprints: number;
}

export interface SystemicNumbers {
  /** Distinct messages at least, … */
  readonly least: number;
  /** … or, once it is systemic, so many: it goes on while messages are slowed, and not for the last one alone, … */
  readonly leastToStay: number;
  /** … and the share of them that one fingerprint must reach … */
  readonly share: number;
  /** … among the last so many messages … */
  readonly messages: number;
  /** … of this time at most. */
  readonly windowMs: number;
  readonly pauseShare: number;
  readonly clearMs: number;
  readonly fingerprints: number;
  /** Failing messages that are told apart. Beyond it one may be counted twice, which at so many changes no verdict. */
  readonly remembered: number;
}

export interface SlowNumbers {
  /** The first wait; then this share of the time for which the trouble has lasted, … */
  readonly firstMs: number;
  readonly share: number;
  /** … up to this, … */
  readonly longestMs: number;
  /** … spread by this share, up and down. */
  readonly jitter: number;
}

export interface RateNumbers {
  /** What may come at once: so much time's worth of the rate, at least one. */
  readonly burstMs: number;
}

interface ScopeNumbers {
  /** Dependencies that are told apart; further ones share one scope. */
  readonly dependencies: number;
  /** One that was not used for so long gives its place away. */
  readonly idleMs: number;
  /** One that was used within this time counts when it is asked how much to pull. */
  readonly liveMs: number;
  /** A message that may not start now comes back after this at least, … */
  readonly turnedAwayMs: number;
  /** … and after this at most: what is shut for hours may be opened any time, … */
  readonly longestTurnedAwayMs: number;
  /** … and the more are turned away, the further apart: this for each … */
  readonly spreadMs: number;
  /** … up to this. */
  readonly longestSpreadMs: number;
}

export const STORM: StormNumbers = {
  // A6; the cap of Retry-After: R7 item 3. Silence: a hanging dependency gets another probe as often as a failing one.
  breaker: {
    share: 0.5,
    least: 20,
    windowMs: 10_000,
    openMs: 5_000,
    longestOpenMs: 20_000,
    jitter: 0.2,
    longestRetryAfterMs: 300_000,
    silenceMs: 20_000,
    rampMs: 1_000,
  },
  // A breaker's life, slower: what pauses a queue is mended by people. From the breaker's longest time to the fuse's window.
  pause: {
    share: 1,
    least: Number.POSITIVE_INFINITY,
    windowMs: 10_000,
    openMs: 20_000,
    longestOpenMs: 300_000,
    jitter: 0.2,
    longestRetryAfterMs: 300_000,
    silenceMs: 20_000,
    rampMs: 1_000,
  },
  // R7 item 2; `fineMs` is the bound that R7's model ran with. Pace past the bound: at 0.5 the calls that fill the dependency's queue
  // after each cut, on top of what it can do, make up to 105.5 % of that in 5 s after an outage; at 1, 105.0 %; at 3, 104.3 % (six
  // seeds), and it recovers as soon. A pace of 1 everywhere costs two fifths of the goodput at 30 % random errors: each may cut. Samples and pace: a median of fewer is a guess, and a baseline
  // that follows faster ends at the luckiest of them.
  concurrency: {
    start: 20,
    pace: 0.5,
    queueingPace: 3,
    cut: 0.7,
    windowMs: 500,
    bound: 2,
    fineMs: 500,
    fineShare: 0.25,
    leastSamples: 20,
    baselineShare: 0.1,
  },
  // R7 item 4. The longest wait: that of an open breaker, so that what a short outage turned away does not come back long after
  // it. So short a one does not end a collapse by itself, as five minutes do in the model; the breaker or the bound on
  // concurrency does, and neither needs the other.
  budget: {
    tokens: 100,
    cost: 10,
    throttledCost: 1,
    perSuccess: 1,
    perSecond: 0.5,
    windowMs: 30_000,
    longestWaitMs: 20_000,
  },
  // A6.
  // The share: of 1 % random errors four attempts make a letter of one message in 10^8. Doubt: with the charged attempts that follow
  // 30 % of random errors make one of 6 million messages a letter, and a message that always fails is one after 13 runs.
  guilt: {
    others: 2,
    windowMs: 600_000,
    blindSuccesses: 20,
    share: 0.01,
    least: 20,
    shareMs: 30_000,
    doubt: 1e-5,
    remembered: 1024,
  },
  // A6. To stay: eight messages that come back every two minutes are as many.
  fuse: {
    least: 100,
    leastToStay: 20,
    share: 0.2,
    windowMs: 300_000,
    pauseShare: 0.9,
    clearMs: 300_000,
    fingerprints: 32,
  },
  // A6; window and clearing as of the fuse. A hundred messages: a deploy that goes bad on a busy queue is seen within a hundred.
  systemic: {
    least: 20,
    leastToStay: 5,
    share: 0.5,
    messages: 100,
    windowMs: 300_000,
    pauseShare: 0.9,
    clearMs: 300_000,
    fingerprints: 32,
    remembered: 1024,
  },
  // Far below the windows of fuse and systemic rule: what is slowed must not thereby look cured.
  slow: { firstMs: 5_000, share: 0.25, longestMs: 120_000, jitter: 0.2 },
  // The slice in which limits are borrowed across processes (A6).
  rate: { burstMs: 250 },
  // Idle: the window of guilt. Spread: at most a hundred messages a second come to a closed door, each at least once a minute.
  scopes: {
    dependencies: 16,
    idleMs: 600_000,
    liveMs: 60_000,
    turnedAwayMs: 250,
    longestTurnedAwayMs: 60_000,
    spreadMs: 10,
    longestSpreadMs: 60_000,
  },
};

export type StormOverrides = { readonly [M in keyof StormNumbers]?: Partial<StormNumbers[M]> };

/** What can be switched off by name. */
export const MECHANISMS = [
  'rate',
  'concurrency',
  'latency',
  'breaker',
  'ramp',
  'budget',
  'guilt',
  'fuse',
  'systemic',
] as const;
export type Mechanism = (typeof MECHANISMS)[number];

const NEVER = Number.POSITIVE_INFINITY;

/** A mechanism is off when its threshold is out of reach: the code has no second path for it, and a person can still trip it. */
const OFF: Readonly<Record<Mechanism, StormOverrides>> = {
  rate: { rate: { burstMs: NEVER } },
  concurrency: { concurrency: { start: NEVER, cut: 1 } },
  latency: { concurrency: { bound: NEVER } },
  breaker: { breaker: { least: NEVER } },
  ramp: { breaker: { rampMs: 0 }, pause: { rampMs: 0 } },
  budget: { budget: { cost: 0, throttledCost: 0 } },
  guilt: { guilt: { others: NEVER } },
  fuse: { fuse: { least: NEVER } },
  systemic: { systemic: { least: NEVER } },
};

/** The numbers with `overrides`, and without what is `off`. */
export function stormNumbers(overrides: StormOverrides = {}, off: readonly Mechanism[] = []): StormNumbers {
  return off.reduce((numbers, mechanism) => changed(numbers, OFF[mechanism]), changed(STORM, overrides));
}

function changed(numbers: StormNumbers, by: StormOverrides): StormNumbers {
  return {
    breaker: { ...numbers.breaker, ...by.breaker },
    pause: { ...numbers.pause, ...by.pause },
    concurrency: { ...numbers.concurrency, ...by.concurrency },
    budget: { ...numbers.budget, ...by.budget },
    guilt: { ...numbers.guilt, ...by.guilt },
    fuse: { ...numbers.fuse, ...by.fuse },
    systemic: { ...numbers.systemic, ...by.systemic },
    slow: { ...numbers.slow, ...by.slow },
    rate: { ...numbers.rate, ...by.rate },
    scopes: { ...numbers.scopes, ...by.scopes },
  };
}
