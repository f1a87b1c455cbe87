import type { Handler } from '../../../src/runtime/inline.ts';

/** The files that children load: plain JavaScript, as a user's compiled handler is. */
export const HANDLERS = {
  acts: new URL('./handlers/acts.js', import.meta.url),
  broken: new URL('./handlers/broken.js', import.meta.url),
  commonJs: new URL('./handlers/common.cjs', import.meta.url),
  exitsAtOnce: new URL('./handlers/exits-at-once.js', import.meta.url),
  looper: new URL('./handlers/looper.js', import.meta.url),
  missing: new URL('file:///nowhere/missing.js'),
  noFunction: new URL('./handlers/no-function.js', import.meta.url),
  thrownValues: new URL('./handlers/thrown-values.js', import.meta.url),
  withSchema: new URL('./handlers/with-schema.js', import.meta.url),
};

export const PARENT: URL = new URL('./handlers/parent.js', import.meta.url);

/** What handlers throw, by name; made anew each time. */
export const THROWN: Readonly<Record<string, () => unknown>> = (await import(HANDLERS.thrownValues.href)).THROWN;

/** The same handler, to be run here. */
export async function loaded(handler: URL): Promise<Handler> {
  return (await import(handler.href)).default;
}
