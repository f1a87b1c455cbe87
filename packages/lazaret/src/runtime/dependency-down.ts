import { LazaretError } from '../core/errors.ts';
import { shown } from '../core/option-error.ts';
import type { Outcome } from '../core/outcome.ts';
import { peek } from '../core/peek.ts';
import type { Refusal } from './context.ts';

const refusals = new WeakMap<object, Refusal>();

/** What `ctx.dependency` throws where nothing may call it. */
export function dependencyDown(name: string, refusal: Refusal): LazaretError {
  const error = new LazaretError('LZ1209', `${shown(name)} may not be called now: ${refusal.why}.`, {
    hint: 'Let this error through: the message is given back, uncharged, and comes again.',
  });
  refusals.set(error, refusal);
  return error;
}

/** What becomes of a run that let it through, also as the cause of its own error; `undefined` where it is another error. */
export function refusedDependency(thrown: unknown): Outcome | undefined {
  const refusal = refusalIn(thrown) ?? refusalIn(peek(thrown, 'cause'));
  return refusal && { kind: 'givenBack', delayMs: refusal.forMs, why: refusal.why };
}

function refusalIn(value: unknown): Refusal | undefined {
  return typeof value === 'object' && value !== null ? refusals.get(value) : undefined;
}
