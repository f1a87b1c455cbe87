const LONGEST_WORD = 40;
/** From so many letters on a part of a name is enough: 'visibility'. */
const SHORTEST_PART = 4;

/** The candidate that `word` was probably meant to be, or `undefined` where none is near. Case does not count. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const typed = word.toLowerCase();
  let nearest: string | undefined;
  // A third of the word may be wrong; of the shortest words one letter.
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance < least) {
      nearest = candidate;
      least = distance;
    }
  }
  if (nearest !== undefined || typed.length < SHORTEST_PART) return nearest;
  return candidates.find((candidate) => candidate.toLowerCase().includes(typed));
}

/** Letters to insert, delete, replace, or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
