/** Items in the order of `isBefore`; among equals the order is not kept, so whoever needs it compares a sequence number too. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let child = items.length;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(item, items[parent]!)) break;
      items[child] = items[parent]!;
      child = parent;
    }
    items[child] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) this.#sink(last!);
    return first;
  }

  /** In no particular order. */
  values(): readonly T[] {
    return this.#items;
  }

  /** Drops all others. */
  retain(isWanted: (item: T) => boolean): void {
    const wanted = this.#items.filter(isWanted);
    this.#items.length = 0;
    for (const item of wanted) this.push(item);
  }

  #sink(item: T): void {
    const items = this.#items;
    let parent = 0;
    for (;;) {
      let child = 2 * parent + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#isBefore(items[child + 1]!, items[child]!)) child++;
      if (!this.#isBefore(items[child]!, item)) break;
      items[parent] = items[child]!;
      parent = child;
    }
    items[parent] = item;
  }
}
