import { BATCH_OPTIONS, type BatchOptions } from '../core/batch-options.ts';
import { LazaretError } from '../core/errors.ts';
import { shown } from '../core/option-error.ts';
import { givenOptions } from '../core/option-values.ts';
import { CONSUME_OPTIONS, type ConsumeOptions } from '../core/options.ts';
import type { BatchHandler } from './batch.ts';
import type { Handler } from './inline.ts';

/** What `consume` was called with, sorted out. Throws LZ1004 where there is no handler, or one that does not fit the options. */
export function consumeArguments(
  queue: string,
  second: unknown,
  third: unknown,
): { readonly options: ConsumeOptions; readonly handler: Handler | URL } {
  if (typeof second === 'function' && third === undefined) return { options: {}, handler: second as Handler };
  if (typeof second !== 'object' || second === null) throw noFunction(queue, third === undefined ? second : third);
  const { handler, ...options } = second as ConsumeOptions & { readonly handler?: unknown };
  if (handler === undefined && options.isolate === undefined) return { options, handler: functionOf(queue, third) };
  if (handler instanceof URL && third === undefined && options.isolate !== undefined) {
    refuseClosures(queue, options);
    return { options, handler };
  }
  throw new LazaretError('LZ1004', `queue '${queue}' has no handler that fits its options.`, {
    hint: "Give a function; or, with isolate: 'process', the option handler: new URL('./handler.js', import.meta.url).",
  });
}

/** The same of `consumeBatch`. Throws LZ1001 and LZ1002 for its options as a whole, too. */
export function batchArguments(
  queue: string,
  given: unknown,
  handler: unknown,
): { readonly options: ConsumeOptions; readonly filling: BatchOptions; readonly handler: BatchHandler } {
  givenOptions(given, [...BATCH_OPTIONS, ...CONSUME_OPTIONS], 'consumeBatch');
  const { size, within, ...options } = given as BatchOptions & ConsumeOptions;
  if (options.isolate !== undefined) {
    throw new LazaretError('LZ1004', `queue '${queue}': a batch cannot be used together with isolate.`, {
      hint: "Use 'consume' with isolate, or leave isolate out.",
    });
  }
  return { options, filling: { size, within }, handler: functionOf(queue, handler) };
}

function functionOf<F>(queue: string, handler: F): F & Handler & BatchHandler {
  if (typeof handler !== 'function') throw noFunction(queue, handler);
  return handler as F & Handler & BatchHandler;
}

function noFunction(queue: string, handler: unknown): LazaretError {
  return new LazaretError('LZ1004', `queue '${queue}' has no handler: ${shown(handler)} is not a function.`, {
    hint: 'Give a function as the last argument; where it is imported, check its name.',
  });
}

/** What cannot cross to another process would be ignored there. */
function refuseClosures(queue: string, options: ConsumeOptions): void {
  for (const name of ['schema', 'poison', 'transient'] as const) {
    if (options[name] === undefined) continue;
    throw new LazaretError('LZ1004', `queue '${queue}': '${name}' cannot be used together with isolate.`, {
      hint:
        name === 'schema' ? "Export 'schema' from the handler file." : "Throw Poison or Transient, or use 'classify'.",
    });
  }
}
