import { connectionReset } from '../../drivers/memory/exchange.ts';
import { RECONNECT_MS } from '../../drivers/memory/options.ts';
import type { Broker } from '../../ports/broker.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import { type App, createApp } from '../../runtime/app.ts';
import type { EventName, Events } from '../../runtime/events.ts';
import { scripted, scriptedBatch } from './handler.ts';
import { isAlone } from './ledger.ts';
import { Link, linkedJournal } from './link.ts';
import { observedGround } from './observed-ground.ts';
import { observedWire } from './observed-wire.ts';
import type { Situation } from './reached.ts';
import type { QueuePlan } from './scenario.ts';
import type { Stage } from './stage.ts';
import { VirtualSystem } from './virtual-system.ts';
import { Wire } from './wire.ts';

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
/** How long a process that has stopped is watched for what it left behind. */
const LINGER_MS = 30_000;
/** A call that is not answered for so long is not answered any more. */
const HALF_OPEN_MS = 3_000;
/** What storm control will not charge for stays in its queue until a person comes: so long after all else went wrong. */
const MENDED_AFTER_MS = 10 * 60_000;

const EVENTS: readonly EventName[] = [
  'done',
  'retrying',
  'released',
  'quarantined',
  'lease-lost',
  'abandoned',
  'unaccounted-deliveries',
  'suspects',
  'running-alone',
  'trouble',
  'stopped',
];

/** One operating system process with an app in it: it starts, works, and ends in one of many ways. */
export class SimulatedProcess {
  readonly name: string;
  readonly system: VirtualSystem;
  readonly #stage: Stage;
  /** Told once, when another process may take its place. */
  readonly #ended: () => void;
  readonly #broker: Broker;
  readonly #wire: Wire;
  readonly #app: App<Record<string, unknown>>;
  #state: 'starting' | 'up' | 'stopping' | 'stopped' | 'gone' = 'starting';
  #pausedAt: number | undefined;
  #connectedAgainAt = 0;
  #pausedMs = 0;
  /** Things that went wrong around it. */
  #troubles = 0;

  constructor(stage: Stage, slot: number, generation: number, ended: () => void) {
    const { scenario, time, chance, server } = stage;
    const { skewMs, latenessMs, latencyMs, waitMs } = scenario;
    const own = chance.fork(10_000 + slot * 1_000 + generation);
    this.name = `p${slot}.${generation}`;
    this.#stage = stage;
    this.#ended = ended;
    this.system = new VirtualSystem({
      time,
      chance: own.fork(1),
      name: this.name,
      skewMs: Math.round(own.between(-skewMs, skewMs)),
      latenessMs,
    });
    this.#wire = new Wire({ time, chance: own.fork(2), system: this.system, latencyMs });
    this.#broker = server.connect();
    this.#app = createApp({
      driver: { name: 'memory', connect: () => this.#connect() },
      system: this.system,
      store: stage.store && { name: 'memory', connect: () => this.#connectStore() },
      logger: SILENT,
      group: undefined,
      version: undefined,
      waitMs,
    });
    for (const queue of scenario.queues) this.#consume(queue);
    for (const name of EVENTS) this.#app.on(name, (event) => this.#told(name, event));
  }

  get state(): 'starting' | 'up' | 'stopping' | 'stopped' | 'gone' {
    return this.#state;
  }

  // --- its life ---------------------------------------------------------------------------------------------------

  start(): void {
    this.note('starts');
    this.#app.start().then(
      () => {
        if (this.#state === 'starting') this.#state = 'up';
        this.note('is up');
      },
      (thrown: Error) => {
        this.note('could not start', thrown.message);
        if (this.#state === 'starting') this.end('left');
      },
    );
  }

  kill(): void {
    if (this.#state === 'gone' || this.#state === 'stopped') return;
    const { reached, ledger } = this.#stage;
    reached.add('a process is killed');
    if (ledger.active(this.name).size > 0) reached.add('a process is killed while a handler runs');
    if (this.#state === 'stopping') reached.add('a process is killed while it stops');
    if (this.#pausedAt !== undefined) reached.add('a process is killed while it is paused');
    this.note('is killed');
    this.end('died');
  }

  end(how: 'died' | 'left'): void {
    if (this.#state === 'gone') return;
    const isFollowed = this.#state === 'stopped';
    this.#state = 'gone';
    this.system.end();
    this.#stage.server.kill(this.#broker);
    this.#stage.ledger.died(this.name, this.#stage.time.now, how);
    if (!isFollowed) this.#ended();
  }

  pause(ms: number): void {
    if (this.#state === 'gone' || this.#pausedAt !== undefined) return;
    const { time, reached, scenario } = this.#stage;
    reached.add('a process is paused');
    if (scenario.queues.some(({ leaseMs }) => ms > leaseMs)) reached.add('a process is paused beyond a lease');
    this.note('stands still', `for ${Math.round(ms)} ms`);
    this.#troubles++;
    this.#stage.ledger.stoodStill.add(this.name);
    this.#pausedAt = time.now;
    this.system.pause();
    time.in(ms, () => this.#resume());
  }

  #resume(): void {
    if (this.#pausedAt === undefined || this.#state === 'gone') return;
    this.#pausedMs += this.#stage.time.now - this.#pausedAt;
    this.#pausedAt = undefined;
    this.note('goes on');
    this.system.resume();
  }

  cut(): void {
    if (this.#state === 'gone') return;
    const { reached, ledger, server, time, scenario } = this.#stage;
    reached.add('a connection is cut');
    if ([...ledger.active(this.name)].some(isAlone)) reached.add('a connection is cut while a suspect runs');
    this.note('is cut off');
    this.#troubles++;
    if (this.isConnected) this.#connectedAgainAt = time.now + (scenario.server.reconnectMs ?? RECONNECT_MS);
    server.cut(this.#broker);
  }

  stall(ms: number): void {
    if (this.#state === 'gone') return;
    this.#stage.reached.add('a wire is stalled');
    this.note('is not heard', `for ${Math.round(ms)} ms`);
    this.#troubles++;
    this.#wire.stall(ms);
  }

  /** As a signal would: it is noticed when the process runs. */
  stop(withinMs: number): void {
    this.system.arrive(() => void this.#stop(withinMs));
  }

  async #stop(withinMs: number): Promise<void> {
    if (this.#state !== 'up' && this.#state !== 'starting') return;
    const { time, referee, reached } = this.#stage;
    this.#noteStop(withinMs);
    this.#state = 'stopping';
    const calledAt = time.now;
    const before = { pausedMs: this.#pausedMs, troubles: this.#troubles };
    const wasWell = this.isConnected && !this.#wire.isStalled;
    const counts = await this.#app.stop({ within: `${withinMs}ms` });
    this.#state = 'stopped';
    this.note('has stopped', JSON.stringify(counts));
    if (counts.abandoned > 0) reached.add('a stop abandons a handler');
    if (counts.unsettled > 0) reached.add('a stop leaves something unsettled');
    referee.stopped({
      process: this.name,
      calledAt,
      withinMs,
      answeredAt: time.now,
      counts,
      pausedMs: this.#pausedMs - before.pausedMs,
      undisturbed: wasWell && this.#troubles === before.troubles,
    });
    time.in(LINGER_MS, () => this.#leave());
    this.#ended();
  }

  #noteStop(withinMs: number): void {
    const { reached, ledger } = this.#stage;
    const active = ledger.active(this.name);
    reached.add('a process stops');
    if (this.#state === 'starting') reached.add('a process stops while it starts');
    if (active.size > 0) reached.add('a process stops while a handler runs');
    if ([...active].some(isAlone)) reached.add('a process stops while a suspect runs');
    this.note('is told to stop', `within ${withinMs} ms`);
  }

  #leave(): void {
    if (this.#state !== 'stopped') return;
    const { pending } = this.system;
    if (pending > 0) {
      const what = `${this.name} has ${pending} timers ${LINGER_MS} ms after it has stopped`;
      this.#stage.referee.report('leak', 'a process that has stopped has no timers', what);
    }
    this.note('is gone');
    this.end('left');
  }

  // --- how it looks -----------------------------------------------------------------------------------------------

  /** `false`: whoever watches over it should replace it. */
  get isHealthy(): boolean {
    return this.#app.health().ok;
  }

  /** Nothing is in its hands, and it hears from the server. */
  get isIdle(): boolean {
    const { waitMs, latencyMs } = this.#stage.scenario;
    if (this.#wire.silentMs > waitMs + latencyMs[1]) return false;
    return Object.values(this.#app.health().queues).every(
      ({ running, held, waiting, unsettled, suspects }) => running + held + waiting + unsettled + suspects === 0,
    );
  }

  get isStopping(): boolean {
    return this.#state === 'stopping' || this.#state === 'stopped';
  }

  get isConnected(): boolean {
    return this.#state !== 'stopped' && this.#stage.time.now > this.#connectedAgainAt;
  }

  /** A connection on which nothing is answered is half open; whoever notices cuts it. */
  lookAtConnection(): void {
    const { scenario } = this.#stage;
    if (this.#pausedAt === undefined && this.#wire.silentMs > scenario.waitMs + HALF_OPEN_MS) this.cut();
  }

  note(what: string, note?: string, message?: number): void {
    this.#stage.trace.add(this.#stage.time.now, this.name, what, message, note);
  }

  /** Something went wrong around it that is not its own doing. */
  troubled(): void {
    this.#troubles++;
  }

  // --- the app in it ----------------------------------------------------------------------------------------------

  #consume({ name, batch, ...plan }: QueuePlan): void {
    const ground = observedGround(this.#stage, this);
    const options = {
      maxAttempts: plan.maxAttempts,
      concurrency: plan.concurrency,
      ordering: plan.ordering,
      visibilityTimeout: `${plan.leaseMs}ms`,
      timeout: `${plan.timeoutMs}ms`,
      ...(plan.heartbeat ? {} : { heartbeat: false as const }),
      ...(plan.backoffMs.length === 0 ? {} : { backoff: plan.backoffMs.map((ms) => `${ms}ms`) }),
      ...(plan.laneCap === undefined ? {} : { parking: { lane: plan.laneCap } }),
    };
    if (batch === undefined) this.#app.consume(name, options, scripted(ground));
    else {
      const { size, withinMs } = batch;
      this.#app.consumeBatch(name, { ...options, size, within: `${withinMs}ms` }, scriptedBatch(ground));
    }
  }

  #connect(): Promise<Broker> {
    return new Promise((resolve, reject) => {
      this.#wire.request(() => {
        const { pending, reached } = this.#stage;
        if (pending.happens('no connection')) {
          reached.add('a process finds no server');
          this.#wire.answer(() => reject(connectionReset()));
          return;
        }
        const broker = this.#stage.plant(this.#broker, this.system);
        const link = new Link(broker, this.#wire, observedWire(this.#stage, this));
        this.#wire.answer(() => resolve(link));
      });
    });
  }

  #connectStore(): Promise<Store> {
    const store = this.#stage.store!;
    const witness = observedWire(this.#stage, this);
    const linked: Store = {
      name: store.name,
      journal: (owner, group) => linkedJournal(store.journal(owner, group), this.#wire, witness),
      close: async () => undefined,
    };
    return this.#wire.ask(async () => linked);
  }

  #told<E extends EventName>(name: E, event: Events[E]): void {
    const { ledger, time, reached } = this.#stage;
    const { id, why, reason, attempt, spared } = event as Partial<Events['quarantined'] & Events['released']>;
    const life = id === undefined ? undefined : ledger.life(id);
    this.note(`tells '${name}'`, reason ?? why ?? String(attempt ?? ''), life?.plan.index);
    if (life === undefined) return;
    if (name === 'abandoned') {
      // n.b. two copies of a message may run here at once; the one that is meant has been told to stop.
      const runs = [...ledger.active(this.name)].filter(
        (run) => run.handOut.life === life && run.abandonedAt === undefined && run.attempt === attempt,
      );
      const meant = runs.length === 1 ? runs[0] : runs.find(({ context }) => context.signal.aborted);
      if (meant !== undefined) meant.abandonedAt = time.now;
    }
    if (name === 'lease-lost') {
      for (const handOut of ledger.inHand(this.name)) if (handOut.life === life) handOut.isGivenUp = true;
    }
    if (spared !== undefined && time.now > this.#stage.scenario.quietAt + MENDED_AFTER_MS) life.isMended = true;
    if (name === 'quarantined') reached.add(`a letter: ${reason}` as Situation);
  }
}
