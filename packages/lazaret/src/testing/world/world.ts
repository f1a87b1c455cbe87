import { memoryServer } from '../../drivers/memory/index.ts';
import type { Broker } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { memoryStore } from '../../stores/memory/index.ts';
import { ManualSystem } from '../manual-system.ts';
import { Chance } from './chance.ts';
import { CHECKERS } from './checkers/index.ts';
import { Ledger, type Life } from './ledger.ts';
import { Letters } from './letters.ts';
import { PendingFaults } from './pending-faults.ts';
import { Producer } from './producer.ts';
import type { Reached } from './reached.ts';
import { type Facts, Referee, type Violation } from './referee.ts';
import type { FaultPlan, Scenario } from './scenario.ts';
import { Slots } from './slots.ts';
import type { Stage } from './stage.ts';
import { Trace } from './trace.ts';
import { VirtualSystem } from './virtual-system.ts';
import { VirtualTime } from './virtual-time.ts';

/** More happenings than this are a loop that never ends, or that lets no time pass. */
const HAPPENINGS_AT_MOST = 400_000;
const AT_ONE_INSTANT_AT_MOST = 10_000;
const LOOK_EVERY_MS = 1_000;
/** After the last fault everything has to be over within it: the longest pauses of running alone are part of it. */
const PATIENCE_MS = 20 * 60_000;
const LAST_STOP_MS = 25_000;
/** Longer than anything lingers. */
const AFTERMATH_MS = 120_000;

/** What became of a world. */
export interface Story {
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  readonly trace: Trace;
  readonly reached: Reached;
  /** From the last fault until nothing was left to do, milliseconds. */
  readonly calmAfterMs: number | undefined;
}

export interface WorldOptions {
  /** Puts something between every process and the server: a fault that has to be found. */
  readonly plant?: (broker: Broker, system: System) => Broker;
}

/** Lets one world happen, from its first message until nothing is left. The same scenario, the same story, step by step. */
export async function happen(scenario: Scenario, options: WorldOptions = {}): Promise<Story> {
  const trace = new Trace();
  const chance = new Chance(scenario.seed);
  const time = new VirtualTime(chance.fork(20), trace);
  const ledger = new Ledger(scenario);
  const serverSystem = new VirtualSystem({
    time,
    chance: chance.fork(21),
    name: 'server',
    skewMs: 0,
    latenessMs: 0,
    prompt: true,
  });
  const server = memoryServer({ ...scenario.server, system: serverSystem });
  const facts: Facts = {
    scenario,
    ledger,
    get now() {
      return time.now;
    },
    letters: (life) => letters.of(life),
  };
  const letters = new Letters(server, time);
  const stage: Stage = {
    scenario,
    time,
    chance: chance.fork(22),
    trace,
    ledger,
    server,
    store: scenario.journal === true ? await memoryStore().connect(serverSystem) : undefined,
    plant: options.plant ?? ((broker) => broker),
    pending: new PendingFaults(),
    referee: new Referee(CHECKERS, facts),
    reached: new Set(),
  };
  const world = new World(stage);
  await hearing(() => world.run(), stage.referee);
  if (serverSystem.pending > 0) {
    stage.referee.report('leak', 'a server without clients has no timers', `${serverSystem.pending} are armed`);
  }
  return {
    scenario,
    violations: stage.referee.violations,
    trace,
    reached: stage.reached,
    calmAfterMs: world.calmAt === undefined ? undefined : world.calmAt - scenario.quietAt,
  };
}

/** Reports what throws, and what rejects while nobody listens: that is told when the loop goes on, so it is let go on at the end. */
async function hearing(run: () => Promise<void>, referee: Referee): Promise<void> {
  const report = (reason: unknown) => referee.report('error', 'nothing rejects unheard', String(reason));
  process.on('unhandledRejection', report);
  try {
    await run();
    await new ManualSystem().settle();
  } catch (thrown) {
    referee.report('error', 'nothing throws', String(thrown));
  } finally {
    process.off('unhandledRejection', report);
  }
}

class World {
  calmAt: number | undefined;
  readonly #stage: Stage;
  readonly #slots: Slots;
  readonly #producer: Producer;
  readonly #observer: Broker;
  #calmSince: number | undefined;
  #state: 'going on' | 'calm' | 'stuck' = 'going on';

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#slots = new Slots(stage);
    this.#producer = new Producer(stage);
    this.#observer = stage.server.connect();
  }

  async run(): Promise<void> {
    const { scenario, time, pending } = this.#stage;
    this.#slots.fill();
    this.#slots.watch(() => this.#producer.lookAtConnection());
    this.#producer.start();
    for (const fault of scenario.faults) time.at(fault.at, () => this.#strike(fault));
    time.at(scenario.quietAt, () => {
      this.#note('it is quiet from now on');
      pending.clear();
      this.#lookAgain();
    });
    await time.run(() => this.#state !== 'going on' || this.#isRunaway());
    await this.#end();
  }

  // --- faults -----------------------------------------------------------------------------------------------------

  #strike(fault: FaultPlan): void {
    const { pending, server, scenario, reached } = this.#stage;
    switch (fault.kind) {
      case 'call':
        pending.add(fault.verb, fault);
        return;
      case 'no connection':
      case 'alone fails':
        pending.add(fault.kind, fault);
        return;
      case 'rebalance':
        reached.add('partitions are rebalanced');
        this.#note('rebalances', scenario.queues[fault.queue]!.name);
        server.rebalance(scenario.queues[fault.queue]!.name);
        return;
      default:
        this.#slots.strike(fault);
    }
  }

  // --- coming to rest ---------------------------------------------------------------------------------------------

  #lookAgain(): void {
    this.#stage.time.in(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { time, scenario, referee } = this.#stage;
    const isCalm =
      this.#producer.isDone && this.#slots.areIdle && this.#openLife() === undefined && (await this.#isDrained());
    this.#calmSince = isCalm ? (this.#calmSince ?? time.now) : undefined;
    if (this.#calmSince !== undefined && time.now - this.#calmSince >= this.#calmMs) {
      this.calmAt = this.#calmSince;
      this.#state = 'calm';
      return;
    }
    if (time.now < scenario.quietAt + PATIENCE_MS) {
      this.#lookAgain();
      return;
    }
    const life = this.#openLife();
    const what = life === undefined ? 'something is left in the queue or in hand' : `${life.id} has come to no end`;
    referee.report('M10', 'everything comes to an end', what, life);
    this.#state = 'stuck';
  }

  /** What was pushed to a process whose pull hangs is seen by nobody, so it is given time to show. */
  get #calmMs(): number {
    const { waitMs, latencyMs } = this.#stage.scenario;
    return waitMs + 2 * latencyMs[1] + LOOK_EVERY_MS;
  }

  /** A message that the server confirmed and that has neither effect nor letter. */
  #openLife(): Life | undefined {
    const { ledger, referee } = this.#stage;
    return ledger.lives.find(
      (life) =>
        life.sends.some(({ answer }) => answer === 'done') &&
        life.effects.length === 0 &&
        !life.runs.some(({ end }) => end?.how === 'skipped') &&
        (!life.isCondemned || referee.facts.letters(life) === 0),
    );
  }

  async #isDrained(): Promise<boolean> {
    const { scenario } = this.#stage;
    for (const { name } of scenario.queues) {
      const names = scenario.server.shape === 'channel' ? [name, `${name}.alone`] : [name];
      for (const queue of names) {
        const { ready = 0, delayed = 0, leased = 0 } = await this.#observer.inspect(queue);
        if (ready + delayed + leased > 0) return false;
      }
    }
    return true;
  }

  // --- the end ----------------------------------------------------------------------------------------------------

  async #end(): Promise<void> {
    const { time, referee, server } = this.#stage;
    if (this.#isRunaway()) {
      const { planned, atThisInstant } = time;
      referee.report('error', 'a world ends', `${planned} things were planned, ${atThisInstant} for one instant`);
    }
    this.#slots.close(LAST_STOP_MS);
    const endAt = time.now + AFTERMATH_MS;
    await time.run(() => time.now > endAt || this.#isRunaway());
    if (this.#state === 'calm' && !(await this.#isDrained())) {
      referee.report('M1', 'what was done does not come back', 'the queue is not empty after the last stop');
    }
    referee.over();
    this.#noteEnds();
    this.#slots.vanish();
    this.#producer.stop();
    server.kill(this.#observer);
    await time.run(() => time.now > endAt + AFTERMATH_MS || this.#isRunaway());
  }

  #noteEnds(): void {
    const { ledger, reached, referee, scenario } = this.#stage;
    for (const life of ledger.lives) {
      const copies = life.isCondemned ? referee.facts.letters(life) : 0;
      if (life.effects.length > 1) reached.add('a duplicate is explained');
      if (life.effects.length > 0 && copies > 0) reached.add('a message has an effect and a letter');
      if (copies > 1) reached.add('a letter is written twice');
      if (copies > 0 && life.queue.ordering === 'key') reached.add('a key has a dead letter');
    }
    const works = ledger.lives.every(({ plan }) => plan.script.does === 'work');
    if (scenario.faults.length === 0 && works) reached.add('nothing goes wrong');
  }

  #isRunaway(): boolean {
    const { planned, atThisInstant } = this.#stage.time;
    return planned > HAPPENINGS_AT_MOST || atThisInstant > AT_ONE_INSTANT_AT_MOST;
  }

  #note(what: string, note?: string): void {
    this.#stage.trace.add(this.#stage.time.now, 'server', what, undefined, note);
  }
}
