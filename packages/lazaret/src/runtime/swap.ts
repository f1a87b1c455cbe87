import type { SharedState, Versioned } from '../ports/shared-state.ts';

/** Others write the same text. */
const TRIES = 5;

/**
 * Changes the text of `key`, whatever others do to it meanwhile; `found` is what was read of it last. `change` may be asked again.
 * Answers whether its last word stands: `false` where others were faster every time. Rejects where the store is away.
 */
export async function swap(
  shared: SharedState,
  key: string,
  ttlMs: number,
  change: (text: string | null) => string | null,
  found?: Versioned,
): Promise<boolean> {
  let known = found;
  for (let tries = 0; tries < TRIES; tries++) {
    known ??= (await shared.get([key]))[0];
    const { version, value } = known ?? { version: 0, value: null };
    const wanted = change(value);
    if (wanted === value || (await shared.compareAndSwap(key, version, wanted, ttlMs))) return true;
    known = undefined;
  }
  return false;
}
