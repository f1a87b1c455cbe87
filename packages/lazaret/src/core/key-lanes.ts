/** Which item of each key comes first: in the order in which they entered, or in that of `compare`. Items without a key are always first. */
export class KeyLanes<T> {
  readonly #lanes = new Map<string, Set<T>>();
  readonly #compare: ((a: T, b: T) => number) | undefined;

  constructor(compare?: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  enter(key: string | undefined, item: T): void {
    if (key === undefined) return;
    const lane = this.#lanes.get(key);
    if (lane === undefined) this.#lanes.set(key, new Set([item]));
    else if (this.#compare === undefined) lane.add(item);
    else this.#lanes.set(key, new Set([...lane, item].sort(this.#compare)));
  }

  isFirst(key: string | undefined, item: T): boolean {
    const first = this.first(key);
    return first === undefined || first === item;
  }

  first(key: string | undefined): T | undefined {
    return key === undefined ? undefined : this.#lanes.get(key)?.values().next().value;
  }

  /** Answers who is first of `key` from now on. */
  leave(key: string | undefined, item: T): T | undefined {
    const lane = key === undefined ? undefined : this.#lanes.get(key);
    if (lane === undefined) return undefined;
    lane.delete(item);
    if (lane.size === 0) this.#lanes.delete(key!);
    return this.first(key);
  }

  /** All of `key`, first to last. */
  of(key: string): Iterable<T> {
    return this.#lanes.get(key) ?? [];
  }

  clear(): void {
    this.#lanes.clear();
  }
}
