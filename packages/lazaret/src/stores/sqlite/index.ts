import type { StoreDriver } from '../../ports/store.ts';
import { readOptions, type SqliteStoreOptions } from './options.ts';
import { openStore } from './store.ts';

export type { SqliteStoreOptions } from './options.ts';

/** SQLite where an app takes a store: `lazaret({ broker, store: sqliteStore({ file: './journal.db' }) })`. Opened when the app starts. */
export function sqliteStore(options: SqliteStoreOptions): StoreDriver {
  const settings = readOptions(options);
  return { name: 'sqlite', connect: (system) => openStore(settings, system) };
}
