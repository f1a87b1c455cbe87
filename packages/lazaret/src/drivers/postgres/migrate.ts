import { LazaretError } from '../../core/errors.ts';
import type { Database } from './database.ts';
import { explained, isMissing } from './errors.ts';
import { migration, SCHEMA_VERSION } from './schema.ts';

/** Older servers lack what the tables need. */
const OLDEST_SERVER = 130_000;

/**
 * Makes sure that the tables are there, and are ours to use; forward only. Rejects with LZ1113 for a schema that no longer serves this
 * code, LZ1302 where there is none and none may be made, LZ113x where the server cannot be had.
 */
export async function migrate(database: Database, provision: 'all' | 'never'): Promise<void> {
  try {
    await checkServer(database);
    if ((await versionOf(database)) >= SCHEMA_VERSION) return;
    if (provision === 'never') throw missing(database);
    await database.script(migration(database.schema));
  } catch (error) {
    throw explained(error, database.place);
  }
}

async function checkServer(database: Database): Promise<void> {
  const [row] = await database.ask('server', "SELECT current_setting('server_version_num')::int AS version", []);
  const version = row?.version;
  if (typeof version === 'number' && version >= OLDEST_SERVER) return;
  throw new LazaretError('LZ1132', `PostgreSQL at ${database.place} is too old (${String(version).slice(0, 20)}).`, {
    hint: 'The driver needs version 13 or newer.',
  });
}

/** 0 where there are no tables. */
async function versionOf(database: Database): Promise<number> {
  const text = `SELECT version, serves FROM ${database.schema}.components WHERE name = 'broker'`;
  let found: readonly Readonly<Record<string, unknown>>[];
  try {
    found = await database.ask('version', text, []);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  const { version = 0, serves = 0 } = (found[0] ?? {}) as { readonly version?: number; readonly serves?: number };
  if (serves <= SCHEMA_VERSION) return version;
  throw new LazaretError(
    'LZ1113',
    `The schema '${database.schema}' in PostgreSQL at ${database.place} is of version ${version}, and serves ${serves} or newer; this code has ${SCHEMA_VERSION}.`,
    { hint: 'Update Lazaret here.' },
  );
}

function missing({ schema, place }: Database): LazaretError {
  return new LazaretError('LZ1302', `PostgreSQL at ${place} has no tables in schema '${schema}'.`, {
    hint: "Provision it, or leave out provision: 'never'.",
  });
}
