import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { LazaretError } from 'lazaret/core';
import type { SimulationRun, SimulationSetup } from 'lazaret/testing';

type Answer = { readonly run: SimulationRun } | { readonly why: string };

/** All of `setups`, on as many threads as there are cores. Same order; who finishes first changes nothing. `done` counts along. */
export async function runAll(
  setups: readonly SimulationSetup[],
  done: (count: number) => void,
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
  const threads = Math.min(availableParallelism(), setups.length);
  await Promise.all(Array.from({ length: threads }, work));
  return runs;
}

function ask(worker: Worker, setup: SimulationSetup): Promise<SimulationRun> {
  return new Promise((resolve, reject) => {
    const heard = (answer: Answer) => end(() => ('run' in answer ? resolve(answer.run) : reject(ended(answer.why))));
    const failed = (error: Error) => end(() => reject(error));
    const exited = (code: number) => end(() => reject(ended(`its thread exited with ${code}`)));
    // n.b. a worker has listeners of its own: only ours may go.
    const end = (act: () => void) => {
      worker.off('message', heard).off('error', failed).off('exit', exited);
      act();
    };
    worker.on('message', heard).on('error', failed).on('exit', exited);
    worker.postMessage(setup);
  });
}

function ended(why: string): LazaretError {
  return new LazaretError('LZ1305', `a simulation came to no end: ${why}.`);
}
