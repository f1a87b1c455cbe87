import type { Capabilities, Evidence, GateView, QueueFacts, StandingOrder } from 'lazaret';
import type { Entry, Want } from 'lazaret/core';
import type { Letter, Release, Services, Storm } from '../src/operations/services.ts';

export const NOW: number = Date.UTC(2026, 10, 30, 3, 12, 44);

export const EVIDENCE: Evidence = {
  reason: 'poison',
  queue: 'orders',
  attempts: 1,
  strikes: 0,
  firstSeenAt: NOW - 60_000,
  deadAt: NOW - 41_000,
  fingerprint: 'v1:7f3a',
  why: 'Poison: customer is empty',
};

const CAPABILITIES: Capabilities = {
  failures: 'row',
  starts: 'pull',
  crashEvidence: 'exact',
  staleSettle: 'refused',
  order: 'key',
  retryKeepsOrder: true,
  release: 'free',
  maxDelayMs: 1e12,
  delayGrainMs: 1,
  maxPublishDelayMs: 1e12,
  lease: true,
  body: 'bytes',
  nullBody: true,
  headerBudgetBytes: 1e6,
  headerOrder: true,
  nativeExact: true,
  ackAnswered: true,
};

export function letter(id: string, change: Partial<Letter> & { readonly why?: Partial<Evidence> } = {}): Letter {
  const { why, ...rest } = change;
  return {
    id,
    queue: 'orders',
    state: 'open',
    occurrence: 1,
    message: { id: `evt-${id}`, body: Buffer.from('{"order":"o-1","total":12.50}'), headers: [] },
    evidence: { ...EVIDENCE, ...why },
    deliveries: 1,
    ...rest,
  };
}

/** Set a minute ago, for an hour more. */
export function order(want: Want, change: Partial<StandingOrder> = {}): StandingOrder {
  return { want, at: NOW - 60_000, untilAt: NOW + 3_600_000, why: 'a reason', by: 'somebody', ...change };
}

/** What processes that spoke a second ago say. */
export function stormOf(told: {
  readonly orders?: readonly StandingOrder[];
  readonly views?: readonly Partial<GateView>[];
  readonly history?: readonly Entry[];
}): Storm {
  const calm: GateView = {
    inFlight: 0,
    pause: { state: 'closed', why: '', pinnedForMs: 0 },
    scopes: [],
    fused: [],
    systemic: [],
  };
  const processes = (told.views ?? []).map((view, n) => ({
    process: `process-${n}`,
    at: NOW - 1_000,
    view: { ...calm, ...view },
  }));
  return { orders: told.orders ?? [], chronicle: { processes, history: told.history ?? [] } };
}

export interface FakeSetup {
  readonly queues?: Readonly<Record<string, QueueFacts>>;
  readonly letters?: readonly Letter[];
  readonly capabilities?: Partial<Capabilities>;
  /** What a release of these ids answers instead of 'released'. */
  readonly releases?: Readonly<Record<string, Release>>;
  /** What processes and people say of a queue. */
  readonly storms?: Readonly<Record<string, Partial<Storm>>>;
  /** Letters of a page, however many are asked for. */
  readonly page?: number;
}

/** Services over plain data, with a note of what was released. */
export function fakeServices(setup: FakeSetup = {}): Services & {
  readonly released: string[];
  readonly given: (readonly [queue: string, order: StandingOrder])[];
  readonly told: (readonly [done: number, total: number])[];
} {
  const { queues = { orders: { ready: 2, delayed: 1, leased: 0, dead: 3 } }, letters = [], page = 1_000 } = setup;
  const released: string[] = [];
  const given: (readonly [string, StandingOrder])[] = [];
  const told: (readonly [number, number])[] = [];
  return {
    released,
    given,
    told,
    person: 'mira',
    now: () => NOW,
    storm: {
      look: async (names) =>
        names.map((name) => ({ orders: [], chronicle: { processes: [], history: [] }, ...setup.storms?.[name] })),
      give: async (queue, order) => void given.push([queue, order]),
    },
    queues: async () => Object.entries(queues).map(([name, facts]) => ({ name, facts })),
    capabilities: async () => ({ ...CAPABILITIES, ...setup.capabilities }),
    progress: (done, total) => void told.push([done, total]),
    letters: {
      async list({ queue, reason, after = '0', max }) {
        const start = Number(after);
        const end = start + Math.min(max, page);
        const items = letters
          .slice(start, end)
          .filter(
            (one) => (queue ?? one.queue) === one.queue && (reason ?? one.evidence.reason) === one.evidence.reason,
          );
        return end < letters.length ? { items, next: String(end) } : { items };
      },
      show: async (id) => letters.find((one) => one.id === id),
      async find(text, max) {
        const exact = letters.filter(({ message }) => message.id === text);
        const begun = letters.filter(({ message }) => message.id?.startsWith(text));
        return (exact.length > 0 ? exact : begun).slice(0, max);
      },
      async release(ids) {
        released.push(...ids);
        return ids.map((id) => setup.releases?.[id] ?? { result: 'released' });
      },
    },
  };
}
