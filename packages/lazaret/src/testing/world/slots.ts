import type { FaultPlan } from './scenario.ts';
import { SimulatedProcess } from './simulated-process.ts';
import type { Stage } from './stage.ts';

const LOOK_EVERY_MS = 2_000;
const REPLACED_AFTER_MS: readonly [number, number] = [100, 1_000];
const REPLACED_WITHIN_MS = 2_000;

type SlotFault = Extract<FaultPlan, { readonly slot: number }>;

/** Who keeps the processes running, as a supervisor does: what ends is replaced, what is unhealthy is stopped. */
export class Slots {
  readonly #stage: Stage;
  readonly #processes: SimulatedProcess[] = [];
  /** All that ever were, for those that linger. */
  readonly #all: SimulatedProcess[] = [];
  /** How long each stays down when it ends, where a fault has said so. */
  readonly #downMs = new Map<number, number>();
  readonly #wasUnhealthy = new Set<SimulatedProcess>();
  #isClosed = false;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  fill(): void {
    for (let slot = 0; slot < this.#stage.scenario.processes; slot++) this.#place(slot, 0);
  }

  strike(fault: SlotFault): void {
    const process = this.#processes[fault.slot]!;
    switch (fault.kind) {
      case 'kill':
        this.#downMs.set(fault.slot, fault.downMs);
        process.kill();
        return;
      case 'stop':
        this.#downMs.set(fault.slot, fault.downMs);
        process.stop(fault.withinMs);
        return;
      case 'pause':
        process.pause(fault.forMs);
        return;
      case 'stall':
        process.stall(fault.forMs);
        return;
      case 'cut':
        process.cut();
    }
  }

  /** Every slot has a process that has nothing to do. */
  get areIdle(): boolean {
    return this.#processes.every((process) => process.state === 'up' && process.isIdle && process.isHealthy);
  }

  /** Stops all of them, for good. */
  close(withinMs: number): void {
    this.#isClosed = true;
    for (const process of this.#processes) process.stop(withinMs);
  }

  vanish(): void {
    for (const process of this.#all) process.end('left');
  }

  #place(slot: number, generation: number): void {
    const { time, chance } = this.#stage;
    const process = new SimulatedProcess(this.#stage, slot, generation, () => {
      if (this.#isClosed) return;
      const downMs = this.#downMs.get(slot) ?? chance.between(...REPLACED_AFTER_MS);
      this.#downMs.delete(slot);
      time.in(downMs, () => {
        if (!this.#isClosed) this.#place(slot, generation + 1);
      });
    });
    this.#processes[slot] = process;
    this.#all.push(process);
    process.start();
  }

  /** Looks at everybody every now and then, and does `also`. */
  watch(also: () => void): void {
    const { time, reached, chance } = this.#stage;
    time.in(LOOK_EVERY_MS, () => {
      if (this.#isClosed) return;
      also();
      for (const process of this.#all) process.lookAtConnection();
      for (const process of this.#processes) {
        if (process.state !== 'up' || process.isHealthy) {
          this.#wasUnhealthy.delete(process);
          continue;
        }
        reached.add('health is red');
        process.note('looks unhealthy');
        if (!this.#wasUnhealthy.has(process)) this.#wasUnhealthy.add(process);
        else if (chance.hit(0.5)) process.kill();
        else process.stop(REPLACED_WITHIN_MS);
      }
      this.watch(also);
    });
  }
}
