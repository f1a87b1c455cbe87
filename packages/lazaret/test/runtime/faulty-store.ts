import type { SharedState } from '../../src/ports/index.ts';
import type { ManualSystem } from '../../src/testing/manual-system.ts';

/** away: refuses. hangs: answers nothing. slow: answers after 700 ms. lostReplies: carries out what it is told, and then fails. */
type StoreFault = 'none' | 'away' | 'hangs' | 'slow' | 'lostReplies';

/** A store that fails as it is told, and counts what it is asked. */
export function faultyStore(store: SharedState, system: ManualSystem) {
  const made = { fault: 'none' as StoreFault, gets: 0, swaps: 0, shared: undefined as unknown as SharedState };
  const through = async <T>(ask: () => Promise<T>): Promise<T> => {
    switch (made.fault) {
      case 'none':
        return ask();
      case 'away':
        throw new Error('the store is away');
      case 'hangs':
        return new Promise(() => undefined);
      case 'slow':
        await new Promise<void>((resolve) => void system.after(700, resolve));
        return ask();
      case 'lostReplies':
        await ask();
        throw new Error('the connection was reset');
    }
  };
  made.shared = {
    get(keys) {
      made.gets++;
      return through(() => store.get(keys));
    },
    compareAndSwap(key, version, value, ttlMs) {
      made.swaps++;
      return through(() => store.compareAndSwap(key, version, value, ttlMs));
    },
  };
  return made;
}
