import { LazaretError } from './core/errors.ts';
import { fileOf } from './file-of.ts';
import type { StoreDriver } from './ports/store.ts';

/** Which store an address means. Loaded when it connects, as drivers are. */
const STORES: ReadonlyMap<string, (address: string) => Promise<StoreDriver>> = new Map<
  string,
  (address: string) => Promise<StoreDriver>
>([
  ['memory', async () => (await import('./stores/memory/index.ts')).memoryStore()],
  ['sqlite', async (address) => (await import('./stores/sqlite/index.ts')).sqliteStore({ file: fileOf(address) })],
]);

/** The store at an address like 'sqlite:./journal.db'. Throws LZ1053 for a scheme that none has. */
export function storeAt(address: string): StoreDriver {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(address)?.[1];
  const load = scheme === undefined ? undefined : STORES.get(scheme);
  if (scheme === undefined || load === undefined) {
    // An address may carry a password, so it is not repeated.
    throw new LazaretError(
      'LZ1053',
      `no store for ${scheme === undefined ? 'an address without a scheme' : `addresses of '${scheme}:'`}.`,
      { hint: `Use one of ${[...STORES.keys()].map((name) => `'${name}:…'`).join(', ')}, or hand in a store object.` },
    );
  }
  return { name: scheme, connect: async (system) => (await load(address)).connect(system) };
}
