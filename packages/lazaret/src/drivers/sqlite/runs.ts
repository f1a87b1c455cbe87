/**
 * Calls `use` for every run of neighbouring numbers: 3 4 5 9 is 3 … 5, then 9. One statement for a run costs half of one
 * statement for each of its rows, and what is published together is mostly claimed and settled together.
 * `token` tells rows apart that need statements of their own although they are neighbours.
 */
export function eachRun<T>(
  items: readonly T[],
  seq: (item: T) => number,
  token: (item: T) => number,
  use: (first: number, last: number, token: number) => void,
): void {
  const [start] = items;
  if (start === undefined) return;
  let first = seq(start);
  let last = first;
  let common = token(start);
  for (let i = 1; i < items.length; i++) {
    const item = items[i]!;
    if (seq(item) === last + 1 && token(item) === common) last++;
    else {
      use(first, last, common);
      first = seq(item);
      last = first;
      common = token(item);
    }
  }
  use(first, last, common);
}
