import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify.ts';
import { isPoison, isTransient, Poison, Transient } from '../../../src/core/failures.ts';
import type { Reply } from '../../../src/runtime/isolate/protocol.ts';
import { decodeReply, encodeReply } from '../../../src/runtime/isolate/protocol.ts';
import { packThrown, rebuildThrown } from '../../../src/runtime/isolate/thrown.ts';
import { THROWN } from './handlers.ts';

const NOW = 1_700_000_000_000;

/** As it arrives in the parent, having gone over the pipe. */
function carried(thrown: unknown): unknown {
  const reply: Reply = { kind: 'ended', job: 1, end: { kind: 'threw', thrown: packThrown(thrown, NOW) } };
  const read = decodeReply('token', encodeReply('token', reply).subarray(4));
  if (read?.kind !== 'ended' || read.end.kind !== 'threw') throw new Error('the reply was refused');
  return rebuildThrown(read.end.thrown);
}

function classified(thrown: unknown, rules = {}) {
  return classify(thrown, rules, NOW);
}

describe('a value thrown in another process', () => {
  it.each(Object.entries(THROWN))('is classified as it would be here: %s', (_, make) => {
    const thrown = make();
    expect(classified(carried(thrown))).toEqual(classified(thrown));
  });

  it('is classified as it would be here, whatever it is', () => {
    const anything = fc.anything({ withMap: true, withNullPrototype: true, withSparseArray: true });
    const code = fc.constantFrom('40001', 'ECONNRESET', 14, 1e308, '', 'SQLITE_BUSY', Number.NaN, 'x'.repeat(1000));
    const error = fc
      .record({
        message: fc.string({ unit: 'binary' }),
        code,
        status: fc.oneof(fc.integer(), anything),
        cause: anything,
      })
      .map(({ message, cause, ...fields }) => Object.assign(new Error(message, { cause }), fields));
    fc.assert(
      fc.property(fc.oneof(anything, error), (thrown) => {
        expect(classified(carried(thrown))).toEqual(classified(thrown));
      }),
    );
  });

  it('can be asked about by a classifier of the user', () => {
    const cause = Object.assign(new Error('read'), { code: 'ECONNRESET' });
    const seen: unknown[] = [];
    classified(carried(new Error('fetch failed', { cause })), { classify: (error: unknown) => void seen.push(error) });
    expect(seen).toMatchObject([{ message: 'fetch failed', cause: { message: 'read', code: 'ECONNRESET' } }]);
    expect(carried(new Poison('no'))).toBeInstanceOf(Poison);
    expect(isPoison(carried(new Poison('no')))).toBe(true);
    expect(isTransient(carried(new Transient('later')))).toBe(true);
    expect(carried(new Transient('later', { dependency: 'bank' }))).toMatchObject({ dependency: 'bank' });
  });

  it('brings a date of Retry-After as the wait that was left when it was thrown', () => {
    const at = new Date(NOW + 90_000).toUTCString();
    const thrown = Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': at } });
    expect(classified(carried(thrown))).toMatchObject({ kind: 'transient', retryAfterMs: 90_000 });
  });
});
