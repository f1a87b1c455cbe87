import type { SharedState } from '../../src/ports/index.ts';
import type { ManualSystem } from '../../src/testing/manual-system.ts';

/**
 * away: refuses. hangs: answers nothing. slow: answers after 700 ms. lateSwaps: answers a swap after 2.5 s. lostReplies: carries out
 * what it is told, and then fails.
 */
type StoreFault = 'none' | 'away' | 'hangs' | 'slow' | 'lateSwaps' | 'lostReplies';

/** A store that fails as it is told, and counts what it is asked. */
export function faultyStore(store: SharedState, system: ManualSystem) {
  const made = { fault: 'none' as StoreFault, gets: 0, swaps: 0, shared: undefined as unknown as SharedState };
  const after = async <T>(ms: number, ask: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => void system.after(ms, resolve));
    return ask();
  };
  const through = async <T>(ask: () => Promise<T>, isSwap: boolean): Promise<T> => {
    switch (made.fault) {
      case 'none':
        return ask();
      case 'away':
        throw new Error('the store is away');
      case 'hangs':
        return new Promise(() => undefined);
      case 'slow':
        return after(700, ask);
      case 'lateSwaps':
        return isSwap ? after(2_500, ask) : ask();
      case 'lostReplies':
        await ask();
        throw new Error('the connection was reset');
    }
  };
  made.shared = {
    get(keys) {
      made.gets++;
      return through(() => store.get(keys), false);
    },
    compareAndSwap(key, version, value, ttlMs) {
      made.swaps++;
      return through(() => store.compareAndSwap(key, version, value, ttlMs), true);
    },
  };
  return made;
}
