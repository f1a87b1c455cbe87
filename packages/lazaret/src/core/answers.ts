/** By which of a batch are done: one answer each, in their order, after `lost` was told of those that are not ours any more. `undefined`: all are done. */
export function answersOf<D>(
  batch: readonly { readonly delivery: D }[],
  done: ReadonlySet<number> | undefined,
  lost: (deliveries: readonly D[]) => void,
): readonly ('done' | 'lost')[] {
  if (done === undefined) return batch.map(() => 'done');
  const gone = batch.flatMap(({ delivery }, place) => (done.has(place) ? [] : [delivery]));
  if (gone.length > 0) lost(gone);
  return batch.map((_, place) => (done.has(place) ? 'done' : 'lost'));
}
