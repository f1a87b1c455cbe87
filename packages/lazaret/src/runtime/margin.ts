/** What is written in the last part of a lease may come too late; so much before its end we stop. */
export function marginOf(leaseMs: number): number {
  return Math.min(leaseMs / 10, 1_000);
}
