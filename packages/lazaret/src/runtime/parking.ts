/** Keys remembered at most; forgetting the oldest only lets a few more of its messages be parked. */
const KEYS = 10_000;

/** How many successors of each dead key went into the quarantine, so that one key cannot fill it. */
export interface Parking {
  /** `false`: the key has had its share; let this one wait in the queue. */
  admit(key: string): boolean;
  /** A message of the key was done: it is not dead any more. */
  reopen(key: string | undefined): void;
}

export function parking(cap: number): Parking {
  const parked = new Map<string, number>();
  return {
    admit(key) {
      const count = parked.get(key) ?? 0;
      if (count >= cap) return false;
      parked.delete(key);
      parked.set(key, count + 1);
      if (parked.size > KEYS) parked.delete(parked.keys().next().value!);
      return true;
    },
    reopen(key) {
      if (key !== undefined) parked.delete(key);
    },
  };
}
