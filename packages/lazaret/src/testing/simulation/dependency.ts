import { Heap } from '../../core/heap.ts';
import type { Trouble } from './contract.ts';

/** How a call ended, as its client sees it. */
export type Answer = 'served' | 'refused' | 'failed' | 'timed-out';

/** What goes wrong with the dependency itself; a bad deploy does not. */
export type Weather = Exclude<Trouble, { kind: 'bad-deploy' }>;

export interface DependencyOptions {
  readonly servers: number;
  /** On average. */
  readonly serviceMs: number;
  readonly clientTimeoutMs: number;
  /** How service times are spread: within half of the average, or exponentially. */
  readonly service: 'even' | 'exponential';
  /** Uniform in [0, 1). */
  readonly chance: () => number;
}

interface Call {
  readonly deadlineAt: number;
  ended: ((answer: Answer) => void) | undefined;
}

interface Work {
  readonly at: number;
  readonly sequence: number;
  readonly call: Call;
  readonly answer: Answer;
  /** It occupies one of them, whether or not anybody still waits for it. */
  readonly server: boolean;
}

const REFUSED_AFTER_MS = 20;
/** Once callers wait in vain, connections, threads and memory are spent on them. */
const SLOWED = 1.5;

/**
 * What the handlers call: servers behind one queue, first come, first served. A call that its client has given up is worked on all
 * the same. With more calls in the queue than its servers get done within a client's timeout, each takes half as long again.
 *
 * No clock of its own: `advance` ends what is due, and `nextAt` says when that will be.
 */
export class Dependency {
  readonly #options: DependencyOptions;
  readonly #work = new Heap<Work>((a, b) => a.at < b.at || (a.at === b.at && a.sequence < b.sequence));
  readonly #waiting: Call[] = [];
  /** By deadline, which is the order in which they came. */
  readonly #calls: Call[] = [];
  #firstWaiting = 0;
  #firstCall = 0;
  #weather: Weather | undefined;
  #busy = 0;
  #sequence = 0;

  constructor(options: DependencyOptions) {
    this.#options = options;
  }

  /** Calls in its queue, those included that nobody waits for any more. */
  get queued(): number {
    return this.#waiting.length - this.#firstWaiting;
  }

  get busy(): number {
    return this.#busy;
  }

  /** Calls that it can serve in a second, while nothing is wrong. */
  get perSecond(): number {
    return (this.#options.servers * 1_000) / this.#options.serviceMs;
  }

  /** When something ends next, unless something else happens; Infinity where nothing is under way. */
  get nextAt(): number {
    const call = this.#calls[this.#firstCall];
    return Math.min(this.#work.peek()?.at ?? Number.POSITIVE_INFINITY, call?.deadlineAt ?? Number.POSITIVE_INFINITY);
  }

  /** From now on; `undefined`: all is well. What an outage or a hang finds under way is lost. */
  become(weather: Weather | undefined, now: number): void {
    this.#weather = weather;
    if (weather?.kind === 'outage' || weather?.kind === 'hang') this.#loseAll();
    if (weather?.kind === 'outage') this.#refuseAll(now);
    this.#serve(now);
  }

  /** `ended` is called once, by `advance`. */
  call(now: number, ended: (answer: Answer) => void): void {
    const call: Call = { deadlineAt: now + this.#options.clientTimeoutMs, ended };
    this.#calls.push(call);
    switch (this.#weather?.kind) {
      case 'outage':
        this.#plan(now + REFUSED_AFTER_MS, call, 'refused', false);
        return;
      case 'hang':
        return;
      default:
        this.#waiting.push(call);
        this.#serve(now);
    }
  }

  /** Ends what is due. At one moment an answer comes before a timeout. */
  advance(now: number): void {
    for (let work = this.#work.peek(); work !== undefined && work.at <= now; work = this.#work.peek()) {
      this.#giveUpBefore(work.at);
      this.#work.pop();
      if (work.server) this.#busy--;
      end(work.call, work.answer);
      this.#serve(work.at);
    }
    this.#giveUpBefore(now + 1);
  }

  /** Clients whose time was up before `at`; those that have been answered are forgotten. */
  #giveUpBefore(at: number): void {
    const calls = this.#calls;
    for (let call = calls[this.#firstCall]; call !== undefined; call = calls[this.#firstCall]) {
      if (call.ended !== undefined && call.deadlineAt >= at) break;
      end(call, 'timed-out');
      this.#firstCall++;
    }
    if (this.#firstCall > 1_000 && this.#firstCall > calls.length / 2) {
      calls.splice(0, this.#firstCall);
      this.#firstCall = 0;
    }
  }

  #serve(now: number): void {
    const waiting = this.#waiting;
    for (let call = waiting[this.#firstWaiting]; call !== undefined; call = waiting[this.#firstWaiting]) {
      if (this.#busy >= this.#servers) break;
      this.#firstWaiting++;
      this.#busy++;
      this.#plan(now + this.#serviceMs(), call, this.#fails() ? 'failed' : 'served', true);
    }
    if (this.#firstWaiting > 1_000 && this.#firstWaiting > waiting.length / 2) {
      waiting.splice(0, this.#firstWaiting);
      this.#firstWaiting = 0;
    }
  }

  get #servers(): number {
    const { servers } = this.#options;
    return this.#weather?.kind === 'brownout' ? Math.round(servers * this.#weather.left) : servers;
  }

  #fails(): boolean {
    return this.#weather?.kind === 'errors' && this.#options.chance() < this.#weather.share;
  }

  #serviceMs(): number {
    const { serviceMs, clientTimeoutMs, service, chance } = this.#options;
    const drawnMs = service === 'even' ? serviceMs * (0.5 + chance()) : -serviceMs * Math.log(1 - chance());
    const isSwamped = this.queued * serviceMs > this.#servers * clientTimeoutMs;
    return isSwamped ? drawnMs * SLOWED : drawnMs;
  }

  #plan(at: number, call: Call, answer: Answer, server: boolean): void {
    this.#work.push({ at, sequence: this.#sequence++, call, answer, server });
  }

  #loseAll(): void {
    this.#work.retain(() => false);
    this.#waiting.length = 0;
    this.#firstWaiting = 0;
    this.#busy = 0;
  }

  #refuseAll(now: number): void {
    for (let at = this.#firstCall; at < this.#calls.length; at++) this.#plan(now, this.#calls[at]!, 'refused', false);
  }
}

function end(call: Call, answer: Answer): void {
  const { ended } = call;
  call.ended = undefined;
  ended?.(answer);
}
