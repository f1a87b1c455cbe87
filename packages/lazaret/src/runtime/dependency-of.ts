import { LazaretError } from '../core/errors.ts';
import { shown } from '../core/option-error.ts';
import { asError } from './as-error.ts';
import { Incoming } from './received.ts';
import type { Run } from './run.ts';

/** The dependency that a run will need; `undefined` where none is known. Never throws. */
export type DependencyOf = (run: Run) => string | undefined;

/** Asks what the user wrote. What it throws, or says beside names, goes to `trouble`: its message runs as one that names none. */
export function dependencyOf(
  ask: (message: never) => string | undefined,
  trouble: (error: Error) => void,
): DependencyOf {
  return (run) => {
    try {
      const name: unknown = ask(new Incoming(run.delivery.message) as never);
      if (name === undefined || (typeof name === 'string' && name !== '')) return name;
      trouble(
        new LazaretError('LZ1002', `dependency: it says ${shown(name)}.`, { hint: 'Answer a name, or undefined.' }),
      );
    } catch (thrown) {
      trouble(asError(thrown));
    }
    return undefined;
  };
}
