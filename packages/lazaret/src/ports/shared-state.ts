/**
 * Little texts that the processes of a queue share: what people ordered, what is lent, how each of them stands. A store only compares
 * and swaps; what the texts mean is the core's.
 */
export interface SharedState {
  /** Same order as `keys`. Rejects where the store is away. */
  get(keys: readonly string[]): Promise<readonly Versioned[]>;
  /**
   * Writes `value` (`null` deletes) where the key still has `version`, 0 for one that is absent; `false` where somebody else was faster.
   * It expires after `ttlMs`, by the store's clock. Rejects where the store is away, and then it may be written all the same.
   */
  compareAndSwap(key: string, version: number, value: string | null, ttlMs: number): Promise<boolean>;
}

export interface Versioned {
  /** Grows with each write of the key; 0 where it is absent or has expired. */
  readonly version: number;
  readonly value: string | null;
}
