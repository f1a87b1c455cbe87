import { parentPort } from 'node:worker_threads';
import { isLazaretError } from 'lazaret/core';
import { type SimulationRun, type SimulationSetup, simulate } from 'lazaret/testing';

export type Answer = { readonly run: SimulationRun } | { readonly why: string };

// One thread: a setup comes in, its run goes out, or why there is none.
parentPort!.on('message', (setup: SimulationSetup) => {
  simulate(setup).then(
    (run) => parentPort!.postMessage({ run } satisfies Answer),
    (thrown: unknown) => parentPort!.postMessage({ why: whyOf(thrown) } satisfies Answer),
  );
});

function whyOf(thrown: unknown): string {
  if (isLazaretError(thrown)) return `${thrown.code}: ${thrown.message}`;
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
