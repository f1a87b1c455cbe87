import { classify } from '../../../src/core/classify.ts';
import type { Delivery } from '../../../src/ports/broker.ts';
import type { Keeper } from '../../../src/runtime/context.ts';
import type { PoolSetup } from '../../../src/runtime/isolate/pool.ts';
import { Pool } from '../../../src/runtime/isolate/pool.ts';
import type { End, Reply, Request } from '../../../src/runtime/isolate/protocol.ts';
import type { Spawned, SpawnSeen } from '../../../src/runtime/isolate/spawn.ts';
import { Run } from '../../../src/runtime/run.ts';
import { ManualSystem } from '../../../src/testing/manual-system.ts';

/** A child as far as the pool can see one: it does what the test says. */
class FakeProcess implements Spawned {
  readonly heard: Request[] = [];
  usedBytes: number | undefined;
  alive = true;
  dismissed = false;
  held = true;
  readonly #seen: SpawnSeen;
  readonly #system: ManualSystem;
  /** What a kill makes of it; a process that is stuck in the kernel does not go. */
  dies = true;

  constructor(seen: SpawnSeen, system: ManualSystem) {
    this.#seen = seen;
    this.#system = system;
  }

  says(reply: Reply): void {
    this.#seen.replied(reply);
  }

  /** The handler ends the run that it was given last. */
  ends(end: End = { kind: 'done' }): void {
    this.says({ kind: 'ended', job: this.job, end });
  }

  exits(how = 'exit code 1'): void {
    if (!this.alive) return;
    this.alive = false;
    this.#seen.ended(how);
  }

  get job(): number {
    return this.performed.at(-1)!.job;
  }

  get performed(): Extract<Request, { kind: 'perform' }>[] {
    return this.heard.filter((request) => request.kind === 'perform');
  }

  get aborts(): Extract<Request, { kind: 'abort' }>[] {
    return this.heard.filter((request) => request.kind === 'abort');
  }

  tell(request: Request): void {
    this.heard.push(request);
  }

  dismiss(): void {
    this.dismissed = true;
  }

  kill(): void {
    if (this.dies) this.#system.turn(() => this.exits('signal SIGKILL'));
  }

  memory(): number | undefined {
    return this.usedBytes;
  }

  ref(): void {
    this.held = true;
  }

  unref(): void {
    this.held = false;
  }
}

/** A pool over fake children, under the manual clock. */
export function scene(options: Partial<PoolSetup> = {}) {
  const system = new ManualSystem();
  const processes: FakeProcess[] = [];
  const prolonged: number[] = [];
  const pool = new Pool({
    handler: new URL('file:///srv/orders.js'),
    system,
    size: 2,
    memoryBytes: undefined,
    fail: (thrown) => classify(thrown, {}, system.now()),
    spawn: (seen) => {
      const process = new FakeProcess(seen, system);
      processes.push(process);
      return process;
    },
    ...options,
  });
  const keeper: Keeper = {
    prolong: async (run, ms) => {
      prolonged.push(ms);
      run.deadlineAt = Math.max(run.deadlineAt, system.monotonic() + ms);
      return true;
    },
    need: () => undefined,
  };

  return {
    system,
    pool,
    processes,
    prolonged,
    alive: () => processes.filter(({ alive }) => alive).length,
    run: (delivery: Partial<Delivery> = {}) => {
      const run = new Run({ ...DELIVERY, ...delivery }, system.monotonic());
      run.deadlineAt = system.monotonic() + 900_000;
      return run;
    },
    perform(run: Run) {
      const performing = { outcome: undefined as unknown, ended: Promise.resolve(pool.perform(run, keeper)) };
      void performing.ended.then((outcome) => {
        performing.outcome = outcome;
      });
      return performing;
    },
    /** The pool with its first child ready. */
    async opened() {
      const opening = pool.open();
      processes[0]!.says({ kind: 'ready' });
      await opening;
      return processes[0]!;
    },
    settle: () => system.settle(),
  };
}

const DELIVERY: Delivery = {
  message: { id: 'm-1', body: new Uint8Array([1]), headers: [] },
  source: { queue: 'orders' },
  receipt: {},
  attempt: 1,
  firstSeenAt: 0,
};
