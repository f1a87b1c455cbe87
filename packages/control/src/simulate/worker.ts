import { parentPort } from 'node:worker_threads';
import { type SimulationSetup, simulate } from 'lazaret/testing';

// One thread: a setup comes in, its run goes out, or why there is none.
parentPort!.on('message', (setup: SimulationSetup) => {
  simulate(setup).then(
    (run) => parentPort!.postMessage({ run }),
    (thrown: unknown) => parentPort!.postMessage({ why: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
});
