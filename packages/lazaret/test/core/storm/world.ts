import { decide } from '../../../src/core/decide.ts';
import { draw } from '../../../src/core/draw.ts';
import type { Failure, Outcome } from '../../../src/core/outcome.ts';
import type { Policy } from '../../../src/core/policy.ts';
import { Gate, type GateOptions, type Passage } from '../../../src/core/storm/gate.ts';
import { DONE, failed } from './outcomes.ts';

/** How the dependency is, from a moment on. */
export interface Weather {
  readonly fromMs: number;
  readonly is: 'up' | 'down' | 'hanging';
  /** Of one call while it is up; 100 where absent. */
  readonly serviceMs?: number;
}

export interface WorldOptions {
  readonly forMs: number;
  readonly perSecond: number;
  readonly weather: readonly Weather[];
  readonly gate?: Partial<GateOptions>;
  /** How a message ends that the dependency answered. */
  readonly handler?: (message: number, now: number) => Outcome;
  readonly seed?: number;
}

export interface History {
  readonly calls: readonly number[];
  readonly done: readonly number[];
  readonly letters: number;
  readonly backlog: number;
  readonly gate: Gate;
}

const SERVERS = 20;
const CLIENT_TIMEOUT_MS = 2000;
const POLICY: Policy = {
  maxAttempts: 4,
  backoff: { kind: 'list', delaysMs: [2000, 8000, 30_000] },
  jitter: { kind: 'proportional', share: 0.2 },
  aloneStrikes: 2,
  crashStrikes: 4,
};
const UNREACHABLE: Failure = failed('transient', 'ECONNREFUSED').failure;

interface Waiting extends Passage {
  readonly number: number;
  attempt: number;
  runs: number;
}

/**
 * One queue, one consumer and one dependency of 20 servers, in virtual time: a call waits for a server, is given up after 2 s, and
 * then still uses its server. Retries come before fresh messages. Counts per second.
 */
export function live(options: WorldOptions): History {
  const { forMs, perSecond, weather, seed = 1 } = options;
  const concurrency = options.gate?.concurrency ?? 100;
  const gate = new Gate({ concurrency, timeoutMs: 30_000, maxAttempts: 4, ...options.gate }, 0);
  const calls = new Array<number>(Math.ceil(forMs / 1000)).fill(0);
  const done = new Array<number>(Math.ceil(forMs / 1000)).fill(0);
  const agenda = new Agenda();
  const ready: Waiting[] = [];
  const freeAt = new Array<number>(SERVERS).fill(0);
  let head = 0;
  let letters = 0;
  let inFlight = 0;
  let later = 0;
  let chances = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  const chance = () => draw(`world ${seed}`, chances++);

  const weatherAt = (now: number) =>
    weather.findLast(({ fromMs }) => fromMs <= now) ?? { fromMs: 0, is: 'up' as const };

  const call = (message: Waiting, now: number) => {
    calls[Math.floor(now / 1000)]!++;
    inFlight++;
    message.runs++;
    const { is, serviceMs = 100 } = weatherAt(now);
    if (is === 'down') agenda.add(now + 20, (at) => end(message, { kind: 'failed', failure: UNREACHABLE }, at));
    else if (is === 'hanging')
      agenda.add(now + CLIENT_TIMEOUT_MS, (at) => end(message, failed('transient', 'ETIMEDOUT'), at));
    else {
      const server = freeAt.indexOf(Math.min(...freeAt));
      const endsAt = Math.max(now, freeAt[server]!) + serviceMs * (0.5 + chance());
      freeAt[server] = endsAt;
      if (endsAt - now > CLIENT_TIMEOUT_MS) {
        agenda.add(now + CLIENT_TIMEOUT_MS, (at) => end(message, failed('transient', 'ETIMEDOUT'), at));
      } else agenda.add(endsAt, (at) => end(message, options.handler?.(message.number, at) ?? DONE, at));
    }
  };

  const end = (message: Waiting, outcome: Outcome, now: number) => {
    inFlight--;
    const verdict = gate.outcome(message, outcome, now, chance());
    const facts = {
      attempt: message.attempt,
      charged: verdict.charged,
      draw: (n: number) => draw(`${message.number} ${message.runs}`, n),
    };
    const decision = decide(POLICY, outcome, facts);
    if (decision.verb === 'ack') done[Math.floor(now / 1000)]!++;
    else if (decision.verb === 'quarantine' && !verdict.fused) letters++;
    else {
      if (decision.verb === 'retry') message.attempt++;
      const delayMs = 'delayMs' in decision ? decision.delayMs : 0;
      comeBack(message, now + Math.max(delayMs, verdict.slowMs));
    }
  };

  const comeBack = (message: Waiting, at: number) => {
    later++;
    agenda.add(at, () => {
      later--;
      ready.splice(head, 0, message);
    });
  };

  const pull = (now: number) => {
    const want = Math.min(concurrency - inFlight, ready.length - head);
    if (want <= 0) return;
    let admitted = gate.admit(want, 0, now);
    if (admitted === 0) {
      const at = Math.max(gate.nextAt(0, now), now + 1);
      if (at >= wakeAt) return;
      wakeAt = at;
      agenda.add(at, () => {
        wakeAt = Number.POSITIVE_INFINITY;
      });
      return;
    }
    while (admitted-- > 0) {
      const message = ready[head++]!;
      message.admitted = true;
      const waitMs = gate.enter(message, now);
      if (waitMs === 0) call(message, now);
      else comeBack(message, now + waitMs);
    }
  };

  const gapMs = 1000 / perSecond;
  const arrive = (number: number) => (at: number) => {
    ready.push({
      number,
      message: `message ${number}`,
      dependency: undefined,
      attempt: 1,
      admitted: false,
      runs: 0,
      scope: undefined,
      enteredAt: 0,
    });
    agenda.add(at + gapMs, arrive(number + 1));
  };
  agenda.add(0, arrive(0));

  for (let next = agenda.next(); next !== undefined && next.at < forMs; next = agenda.next()) {
    next.happen(next.at);
    pull(next.at);
  }
  return { calls, done, letters, backlog: ready.length - head + later + inFlight, gate };
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly happen: (at: number) => void;
}

/** Events by time, and in their order where they fall together. */
class Agenda {
  readonly #heap: Event[] = [];
  #order = 0;

  add(at: number, happen: (at: number) => void): void {
    const heap = this.#heap;
    let place = heap.push({ at, order: this.#order++, happen }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (isSooner(heap[parent]!, heap[place]!)) break;
      swap(heap, parent, place);
      place = parent;
    }
  }

  next(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    heap[0] = last;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isSooner(heap[child + 1]!, heap[child]!)) child++;
      if (isSooner(heap[place]!, heap[child]!)) break;
      swap(heap, place, child);
      place = child;
    }
    return first;
  }
}

function isSooner(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function swap(heap: Event[], a: number, b: number): void {
  const event = heap[a]!;
  heap[a] = heap[b]!;
  heap[b] = event;
}

export function sum(counts: readonly number[], fromSecond: number, toSecond: number): number {
  return counts.slice(fromSecond, toSecond).reduce((a, b) => a + b, 0);
}
