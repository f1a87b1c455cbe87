import type { ConsumeOptions } from '../../core/options.ts';
import type { BreakerState } from '../../core/storm/breaker.ts';
import type { MemoryServer } from '../../drivers/memory/server.ts';
import type { System } from '../../ports/system.ts';
import { type App, createApp, type QueueOptions } from '../../runtime/app.ts';
import type { StormEvent } from '../../runtime/events.ts';
import type { SimulationSetup } from './contract.ts';
import type { Population } from './population.ts';
import type { Service } from './service.ts';

export const QUEUE = 'orders';
/** The dependency that is in trouble, where messages differ in what they need. */
const MAIN = 'payments';
const OTHER = 'stock';

/** How storm control of the fleet stands. */
export interface FleetState {
  readonly limit: number;
  readonly open: number;
  readonly worst: BreakerState;
}

export interface FleetGround {
  readonly setup: SimulationSetup;
  readonly server: MemoryServer;
  readonly clock: System;
  readonly population: Population;
  readonly service: Service;
  told(what: string, why: string): void;
}

/** The instances of a service: each is an app of its own, on one server. */
export class Fleet {
  readonly #ground: FleetGround;
  readonly #apps: readonly App[];
  readonly #concurrency: number;
  readonly #main: string | undefined;

  constructor(ground: FleetGround) {
    const { instances, otherShare, policy } = ground.setup;
    this.#ground = ground;
    this.#main = otherShare > 0 ? MAIN : undefined;
    this.#concurrency = policy.concurrency ?? 10;
    this.#apps = Array.from({ length: instances }, () => this.#app());
  }

  async start(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.start()));
  }

  #app(): App {
    const { server, clock, service, population, setup } = this.#ground;
    const app = createApp({
      driver: server.driver,
      system: clock,
      logger: undefined,
      group: undefined,
      version: undefined,
      waitMs: 20_000,
    });
    app.consume(QUEUE, this.#options(setup.policy), (message) => service.handle(Number(message.id)));
    app.on('done', ({ id }) => population.finish(Number(id)));
    app.on('quarantined', ({ id }) => population.quarantine(Number(id)));
    this.#listen(app);
    return app;
  }

  /** Who has messages of two kinds names what they need. */
  #options(policy: ConsumeOptions): QueueOptions<unknown> {
    const { population } = this.#ground;
    const options = policy as QueueOptions<unknown>;
    if (this.#main === undefined || policy.dependency !== undefined) return options;
    return {
      ...options,
      dependency: ({ id }) => (population.nature(Number(id)) === 'other' ? OTHER : MAIN),
    };
  }

  #listen(app: App): void {
    const tell = (what: string, { why }: StormEvent) => this.#ground.told(what, why);
    app.on('breaker', (event) => {
      const about = event.dependency === undefined ? '' : ` for ${event.dependency}`;
      tell(`breaker ${event.state}${about}`, event);
    });
    for (const name of ['paused', 'resumed', 'fused', 'fuse-cleared', 'systemic', 'systemic-cleared'] as const) {
      app.on(name, (event: StormEvent) => tell(name, event));
    }
  }

  state(): FleetState {
    let limit = 0;
    let open = 0;
    let worst: BreakerState = 'closed';
    for (const app of this.#apps) {
      const { pause, scopes } = app.health().queues[QUEUE]!.storm;
      const scope = scopes.find(({ dependency }) => dependency === this.#main);
      limit += Math.min(scope?.limit ?? this.#concurrency, this.#concurrency);
      const state = worse(pause.state, scope?.breaker.state ?? 'closed');
      if (state === 'open') open++;
      worst = worse(worst, state);
    }
    return { limit, open, worst };
  }
}

const ORDER: readonly BreakerState[] = ['closed', 'ramping', 'half-open', 'open'];

function worse(a: BreakerState, b: BreakerState): BreakerState {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}
