import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { LazaretError } from 'lazaret/core';
import type { SimulationRun, SimulationSetup } from 'lazaret/testing';
import type { Answer } from './worker.ts';

/** All of `setups`, on as many threads as there are cores. Same order; who finishes first changes nothing. `done` counts along. */
export async function runAll(
  setups: readonly SimulationSetup[],
  done: (count: number) => void,
  cores: number = availableParallelism(),
): Promise<readonly SimulationRun[]> {
  const runs: SimulationRun[] = [];
  let next = 0;
  let finished = 0;
  const work = async () => {
    const worker = new Worker(new URL('./worker.js', import.meta.url));
    try {
      for (let at = next++; at < setups.length; at = next++) {
        runs[at] = await ask(worker, setups[at]!);
        done(++finished);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(cores, setups.length) }, work));
  return runs;
}

function ask(worker: Worker, setup: SimulationSetup): Promise<SimulationRun> {
  return new Promise((resolve, reject) => {
    // n.b. a worker hears nothing any more once all of its listeners were removed: some are its own.
    const heard = {
      message: (answer: Answer) => end(() => ('run' in answer ? resolve(answer.run) : reject(without(answer.why)))),
      error: (error: unknown) => end(() => reject(error)),
      exit: (code: number) => end(() => reject(without(`its thread ended with ${code}.`))),
    };
    const end = (settle: () => void) => {
      for (const [event, listener] of Object.entries(heard)) worker.off(event, listener);
      settle();
    };
    for (const [event, listener] of Object.entries(heard)) worker.on(event, listener);
    worker.postMessage(setup);
  });
}

function without(why: string): LazaretError {
  return new LazaretError('LZ1305', `this cannot be simulated: ${why}`);
}
