import type { Verb } from '../../drivers/memory/faults.ts';
import type { MemoryOptions } from '../../drivers/memory/options.ts';
import { Chance } from './chance.ts';
import type { CallFault, Deed, FaultPlan, MessagePlan, QueuePlan, Scenario, Script } from './scenario.ts';
import { countsHandOuts, hasGhosts } from './scenario.ts';

/** What may differ between parts of a scenario is drawn from sources of their own. */
const PART = { world: 0, faults: 1, calm: 2, journal: 3, messages: 1_000 } as const;

/** So many worlds have no faults and no bad messages: what is right must stay right. */
const CALM_SHARE = 0.03;

/** The scenario of a seed. Faults are a random subset at random rates, so that each meets the others, and now and then nobody. */
export function drawScenario(seed: number): Scenario {
  const root = new Chance(seed);
  const chance = root.fork(PART.world);
  const server = drawServer(chance);
  const journal = drawJournal(root.fork(PART.journal), server);
  const quietAt = chance.whole(6_000, 25_000);
  const processes = chance.pick([1, 1, 2, 2, 3]);
  const queueCount = chance.hit(0.25) ? 2 : 1;
  const drawn = Array.from({ length: queueCount }, (_, index) => drawQueue(chance, server, index));
  const latencyMs = chance.pick([
    [0, 0],
    [0, 0],
    [0, 3],
    [1, 40],
    [5, 400],
  ] as const);
  // A lease that is over before its first heartbeat can be answered keeps nothing, whoever consumes.
  const queues = drawn.map((queue) => ({ ...queue, leaseMs: Math.max(queue.leaseMs, 3 * latencyMs[1]) }));
  const messageCount = chance.pick([6, 8, 10, 12, 15, 20, 40]);
  const isCalm = root.fork(PART.calm).hit(CALM_SHARE);
  const deeds = isCalm ? [] : drawDeeds(chance, { server, ...journal });
  const keys = chance.whole(1, 5);
  const messages = Array.from({ length: messageCount }, (_, index) =>
    drawMessage(root.fork(PART.messages + index), { index, queues, keys, deeds, quietAt }),
  );
  return {
    seed,
    server,
    ...journal,
    queues,
    processes,
    latencyMs,
    latenessMs: chance.pick([0, 0, 1, 20]),
    skewMs: chance.pick([0, 0, 0, 50]),
    waitMs: chance.pick([500, 3_000, 3_000, 5_000]),
    messages,
    faults: isCalm ? [] : drawFaults(root.fork(PART.faults), { server, processes, queues, quietAt }),
    quietAt,
  };
}

// --- the server and its queues --------------------------------------------------------------------------------------

function drawServer(chance: Chance): MemoryOptions {
  const reconnectMs = chance.pick([50, 100, 1_000]);
  const limits = chance.pick([
    {},
    {},
    {},
    {},
    {},
    { maxDelayMs: 200 },
    { maxDelayMs: 700, delayGrainMs: 100 },
    { delayGrainMs: 500 },
  ]);
  const common = { reconnectMs, limits };
  switch (chance.pick(['table', 'table', 'channel', 'channel', 'log', 'log', 'ghost'] as const)) {
    case 'table':
      return { ...common, shape: 'table', ...(chance.hit(0.1) ? { inFlightLimit: chance.whole(1, 6) } : {}) };
    case 'ghost':
      return { ...common, shape: 'table', ghostPolls: true, ...(chance.hit(0.3) ? { hideCapMs: 8_000 } : {}) };
    case 'channel':
      return {
        ...common,
        shape: 'channel',
        singleActive: chance.hit(0.4),
        release: chance.pick(['hold', 'counted']),
        ...(chance.hit(0.2) ? { consumerTimeoutMs: chance.whole(6_000, 20_000) } : {}),
      };
    case 'log':
      return { ...common, shape: 'log', partitions: chance.whole(1, 4), sessionMs: chance.whole(1_000, 4_000) };
  }
}

/**
 * n.b. not on a channel: of a failure that was held there and lost with its connection the journal keeps the charge, and nobody the wait, so that
 * its next attempt starts early.
 */
function drawJournal(chance: Chance, server: MemoryOptions): Pick<Scenario, 'journal'> {
  return hasGhosts({ server }) && chance.hit(0.5) ? { journal: true } : {};
}

function drawQueue(chance: Chance, server: MemoryOptions, index: number): QueuePlan {
  const keepsOrder = server.shape !== 'channel' || server.singleActive === true;
  const ordering = keepsOrder && chance.hit(0.45) ? 'key' : 'none';
  const maxAttempts = chance.whole(1, 5);
  const leaseMs = chance.whole(1_000, 4_000);
  const heartbeat = chance.hit(0.85);
  const timeoutMs = heartbeat ? chance.whole(800, 6_000) : chance.whole(500, leaseMs);
  return {
    name: index === 0 ? 'orders' : 'refunds',
    ordering,
    concurrency: chance.pick([1, 2, 3, 5, 10]),
    maxAttempts,
    backoffMs: Array.from({ length: maxAttempts - 1 }, () => chance.pick([0, 50, 400, 1_500, 4_000])),
    leaseMs,
    heartbeat,
    timeoutMs,
    ...(chance.hit(0.15) ? { batch: { size: chance.whole(2, 5), withinMs: chance.whole(10, 500) } } : {}),
    ...(ordering === 'key' && chance.hit(0.3) ? { laneCap: chance.whole(1, 4) } : {}),
  };
}

// --- messages -------------------------------------------------------------------------------------------------------

function drawDeeds(chance: Chance, ground: Pick<Scenario, 'server' | 'journal'>): readonly Deed[] {
  const all: readonly Deed[] = [
    'fail',
    'fail transiently',
    'ask for a retry',
    'poison',
    'quarantine',
    'skip',
    'crash',
    'hang',
    'overrun',
  ];
  // n.b. where nobody remembers starts, a message that kills its process does so for ever.
  return all.filter((deed) => chance.hit(0.4) && (deed !== 'crash' || !countsHandOuts(ground)));
}

interface MessageTerms {
  readonly index: number;
  readonly queues: readonly QueuePlan[];
  readonly keys: number;
  readonly deeds: readonly Deed[];
  readonly quietAt: number;
}

function drawMessage(chance: Chance, { index, queues, keys, deeds, quietAt }: MessageTerms): MessagePlan {
  const queue = Math.floor(chance.next() * queues.length);
  const plan = queues[queue]!;
  const delayMs = chance.hit(0.12) ? chance.pick([1, 300, 2_000, 5_000]) : 0;
  return {
    index,
    queue,
    key: plan.ordering === 'key' || chance.hit(0.2) ? chance.whole(0, keys - 1) : undefined,
    sentAt: chance.hit(0.5) ? chance.between(0, 500) : chance.between(0, quietAt * 0.7),
    delayMs,
    insistent: chance.hit(0.7),
    deduped: chance.hit(0.2),
    script: drawScript(chance, deeds, plan),
  };
}

function drawScript(chance: Chance, deeds: readonly Deed[], queue: QueuePlan): Script {
  const does = deeds.length > 0 && chance.hit(0.35) ? chance.pick(deeds) : 'work';
  const isRare = does === 'crash' || does === 'hang';
  const longest = queue.timeoutMs * 0.8;
  const durationMs = chance.pick([
    0,
    chance.between(0, 20),
    chance.between(0, Math.min(500, longest)),
    chance.between(0, longest),
  ]);
  return {
    does: isRare && chance.hit(0.5) ? 'work' : does,
    times: chance.whole(1, queue.maxAttempts + 1),
    durationMs: does === 'overrun' ? queue.timeoutMs + chance.between(1, queue.timeoutMs) : durationMs,
    heeds: chance.hit(0.5),
    extendMs: chance.hit(0.05) ? chance.whole(300, 3_000) : 0,
  };
}

// --- faults ---------------------------------------------------------------------------------------------------------

interface FaultTerms {
  readonly server: MemoryOptions;
  readonly processes: number;
  readonly queues: readonly QueuePlan[];
  readonly quietAt: number;
}

type Draw = (chance: Chance, at: number, terms: FaultTerms) => FaultPlan;

const DRAWS: Readonly<Record<string, Draw>> = {
  kill: (chance, at, { processes }) => ({
    at,
    kind: 'kill',
    slot: chance.whole(0, processes - 1),
    downMs: chance.whole(0, 1_500),
  }),
  stop: (chance, at, { processes }) => ({
    at,
    kind: 'stop',
    slot: chance.whole(0, processes - 1),
    withinMs: chance.pick([50, 500, 2_000, 25_000]),
    downMs: chance.whole(0, 1_000),
  }),
  pause: (chance, at, { processes, queues }) => ({
    at,
    kind: 'pause',
    slot: chance.whole(0, processes - 1),
    forMs: chance.pick([300, queues[0]!.leaseMs, 2 * queues[0]!.leaseMs]),
  }),
  cut: (chance, at, { processes }) => ({ at, kind: 'cut', slot: chance.whole(0, processes - 1) }),
  stall: (chance, at, { processes, queues }) => ({
    at,
    kind: 'stall',
    slot: chance.whole(0, processes - 1),
    forMs: chance.pick([200, queues[0]!.leaseMs / 2, 1.5 * queues[0]!.leaseMs]),
  }),
  rebalance: (chance, at, { queues }) => ({ at, kind: 'rebalance', queue: chance.whole(0, queues.length - 1) }),
  'no connection': (_, at) => ({ at, kind: 'no connection' }),
  'alone fails': (_, at) => ({ at, kind: 'alone fails' }),
  publish: (chance, at) => call(chance, at, 'publish', ['error', 'refused', 'request-lost', 'reply-lost', 'hang']),
  pull: (chance, at) => call(chance, at, 'pull', ['error', 'request-lost', 'reply-lost', 'hang']),
  settle: (chance, at) => call(chance, at, 'settle', ['error', 'request-lost', 'reply-lost', 'hang']),
  extend: (chance, at) => call(chance, at, 'extend', ['error', 'request-lost', 'reply-lost', 'hang']),
  copy: (chance, at) => call(chance, at, 'copy', ['error', 'refused', 'request-lost', 'reply-lost', 'hang']),
  commit: (chance, at) => call(chance, at, 'commit', ['error', 'request-lost', 'reply-lost', 'hang']),
};

function drawFaults(chance: Chance, terms: FaultTerms): readonly FaultPlan[] {
  const faults: FaultPlan[] = [];
  for (const [kind, drawOne] of Object.entries(DRAWS)) {
    if (!chance.hit(0.3) || !isPossible(kind, terms.server)) continue;
    const count = chance.pick([1, 2, 4, 8]);
    for (let n = 0; n < count; n++) faults.push(drawOne(chance, chance.between(10, terms.quietAt), terms));
  }
  return faults.sort((a, b) => a.at - b.at);
}

function isPossible(kind: string, { shape }: MemoryOptions): boolean {
  if (kind === 'rebalance' || kind === 'commit') return shape === 'log';
  return kind !== 'copy' || shape === 'log' || shape === 'channel';
}

function call(chance: Chance, at: number, verb: Verb, faults: readonly CallFault['fault'][]): CallFault {
  return { at, kind: 'call', verb, fault: chance.pick(faults), entries: chance.pick([1, 1, 2, 5]) };
}
