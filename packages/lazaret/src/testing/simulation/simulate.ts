import { memoryServer } from '../../drivers/memory/server.ts';
import type { Broker } from '../../ports/broker.ts';
import { Chance } from '../world/chance.ts';
import { Trace } from '../world/trace.ts';
import { SimulatedClock } from './clock.ts';
import type { SimulationRun, SimulationSetup } from './contract.ts';
import { Fleet, QUEUE } from './fleet.ts';
import { Population } from './population.ts';
import { factsOf, SAMPLE_MS, type Sample, seriesOf } from './sampling.ts';
import { Service } from './service.ts';

/**
 * What an outage, or another trouble, does to a queue: the runtime as it is, on the memory driver, under a virtual clock, against a
 * modelled dependency. Rejects with LZ10xx where the policy cannot be read.
 */
export async function simulate(setup: SimulationSetup): Promise<SimulationRun> {
  const run = new Simulation(setup);
  await run.happen();
  return run.result();
}

class Simulation {
  readonly #setup: SimulationSetup;
  readonly #endMs: number;
  readonly #clock: SimulatedClock;
  readonly #arrivals: Chance;
  readonly #population: Population;
  readonly #service: Service;
  readonly #fleet: Fleet;
  readonly #server: ReturnType<typeof memoryServer>;
  readonly #producer: Broker;
  readonly #body: Uint8Array = new Uint8Array();
  readonly #trace: Trace = new Trace();
  readonly #samples: Sample[] = [];
  readonly #events: { readonly atMs: number; readonly what: string; readonly why: string }[] = [];
  /** When the next message is sent: not a whole millisecond, else the rate would be off. */
  #nextArrivalAt = 0;

  constructor(setup: SimulationSetup) {
    const chance = new Chance(setup.seed);
    this.#setup = setup;
    this.#endMs = setup.calmMs + setup.troubleMs + setup.afterMs;
    this.#clock = new SimulatedClock(chance.fork(1));
    this.#arrivals = chance.fork(2);
    this.#population = new Population(setup, chance.fork(3));
    this.#service = new Service(setup, this.#population, this.#clock, chance.fork(4));
    this.#server = memoryServer({ shape: 'table', system: this.#clock });
    this.#producer = this.#server.connect();
    this.#fleet = new Fleet({
      setup,
      server: this.#server,
      clock: this.#clock,
      population: this.#population,
      service: this.#service,
      told: (what, why) => {
        this.#events.push({ atMs: this.#clock.elapsed, what, why });
        this.#trace.add(this.#clock.elapsed, 'fleet', what, undefined, why);
      },
    });
  }

  async happen(): Promise<void> {
    const { calmMs, troubleMs, trouble } = this.#setup;
    const started = this.#fleet.start();
    // n.b. a fleet that cannot start has nothing to wait for: it says so here, and not after all that time.
    await Promise.race([started, this.#clock.run(0)]);
    this.#clock.after(calmMs, () => this.#service.suffer(trouble));
    this.#clock.after(calmMs + troubleMs, () => this.#service.suffer(undefined));
    this.#sendNext();
    this.#sampleNext();
    await this.#clock.run(this.#endMs);
    await started;
  }

  #sendNext(): void {
    this.#nextArrivalAt += (-1_000 / this.#setup.perSecond) * Math.log(1 - this.#arrivals.next());
    this.#clock.after(this.#nextArrivalAt - this.#clock.elapsed, () => {
      const number = this.#population.send(this.#clock.elapsed);
      void this.#producer.publish(QUEUE, [{ id: String(number), body: this.#body }]);
      this.#sendNext();
    });
  }

  #sampleNext(): void {
    this.#samples.push(this.#sample());
    if (this.#clock.elapsed < this.#endMs) this.#clock.after(SAMPLE_MS, () => this.#sampleNext());
  }

  #sample(): Sample {
    const { done, mainDone, open: backlog, quarantined, poisonQuarantined } = this.#population;
    const { calls, mainCalls, running: inFlight } = this.#service;
    const { limit, open, worst } = this.#fleet.state();
    const ageMs = this.#population.ageMs(this.#clock.elapsed);
    for (const fact of [done, calls, backlog, limit, inFlight, ageMs, quarantined, poisonQuarantined])
      this.#trace.mix(fact);
    return {
      done,
      mainDone,
      calls,
      mainCalls,
      limit,
      inFlight,
      open,
      state: worst,
      backlog,
      ageMs,
      quarantined,
      poisonQuarantined,
    };
  }

  result(): SimulationRun {
    const { policy: _, ...setup } = this.#setup;
    const { sent, done, poisonSent, quarantined, poisonQuarantined } = this.#population;
    return {
      setup,
      series: seriesOf(this.#samples),
      sent,
      done,
      outcomes: this.#service.outcomes,
      calls: this.#service.calls,
      quarantined,
      poisonSent,
      poisonQuarantined,
      ...factsOf(this.#samples, this.#setup),
      events: this.#events,
      hash: this.#trace.hash,
    };
  }
}
