/**
 * The `n`-th chance of the message `id`: uniform in [0, 1) with 53 bits, the same in every process and for ever, so that any
 * schedule can be computed again. `n` is a whole number from 0 on (an attempt, as a rule).
 */
export function draw(id: string, n: number): number {
  const high = murmur(id, n, 0x9747b28c) >>> 0;
  const low = murmur(id, n, 0x5bd1e995) >>> 11;
  return (high * 0x200000 + low) / 0x20000000000000;
}

/** MurmurHash3 (32 bits) over the UTF-16 units of `id`, then over both halves of `n`. */
function murmur(id: string, n: number, seed: number): number {
  let hash = seed;
  for (let at = 0; at < id.length; at++) hash = mix(hash, id.charCodeAt(at));
  hash = mix(hash, n | 0);
  hash = mix(hash, (n / 0x100000000) | 0);
  return finish(hash ^ id.length);
}

function mix(hash: number, unit: number): number {
  const scrambled = Math.imul(rotate(Math.imul(unit, 0xcc9e2d51), 15), 0x1b873593);
  return Math.imul(rotate(hash ^ scrambled, 13), 5) + 0xe6546b64;
}

function finish(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
