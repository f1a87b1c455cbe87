import type { Broker } from 'lazaret';
import { LazaretError } from 'lazaret/core';
import type { LineNames } from './line-names.ts';

const LOOKED_AT = 1_000;

/** A queue that somebody else fills is not run through a handler that is being tried: its messages would be gone. LZ1307. */
export async function refuseOthers(broker: Broker, queue: string, names: LineNames): Promise<void> {
  const page = await broker.browse?.(queue, undefined, LOOKED_AT);
  const other = page?.items.find(({ id }) => names.numberOf(id) === undefined);
  if (other === undefined) return;
  throw new LazaretError(
    'LZ1307',
    `queue '${queue}' holds messages that are not lines of this input, '${other.id ?? 'without id'}' for one.`,
    {
      hint: 'Name another queue with --queue, or another file with --db.',
    },
  );
}
