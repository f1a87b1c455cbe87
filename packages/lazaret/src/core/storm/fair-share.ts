/**
 * Max-min fairness: up to how much each may have, so that who wants less gets all of it, and what that leaves goes to the others
 * alike. Infinity where everybody gets what it wants.
 */
export function fairLevel(capacity: number, wants: readonly number[]): number {
  let left = capacity;
  let open = wants.length;
  for (const want of wants.toSorted((a, b) => a - b)) {
    const level = left / open;
    if (want > level) return level;
    left -= want;
    open--;
  }
  return Number.POSITIVE_INFINITY;
}

/** The same in whole pieces. What cannot be divided goes round: with each `turn` to the next of those that want more. */
export function fairPieces(capacity: number, wants: readonly number[], turn: number): readonly number[] {
  const level = fairLevel(capacity, wants);
  const pieces = wants.map((want) => Math.min(want, Math.floor(level)));
  const hungry = pieces.map((_, at) => at).filter((at) => pieces[at]! < wants[at]!);
  const rest = capacity - pieces.reduce((sum, piece) => sum + piece, 0);
  for (let nth = 0; nth < Math.min(rest, hungry.length); nth++) pieces[hungry[(nth + turn) % hungry.length]!]!++;
  return pieces;
}
