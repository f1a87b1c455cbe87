import pg from 'pg';
import { realSystem } from '../../../src/system.ts';
import { onServer } from '../on-server.ts';

/** Registers `tests` where a PostgreSQL server can be had. Whatever is in it may be used; what tests made they drop. */
export function onPostgres(what: string, tests: (url: string) => unknown): Promise<void> {
  return onServer(`PostgreSQL: ${what}`, 'LAZARET_POSTGRES_URL', tests);
}

/** A schema that no other test has. */
export function freshSchema(): string {
  return `lz_test_${realSystem
    .id()
    .replaceAll(/[^a-z0-9]/gi, '')
    .toLowerCase()}`;
}

/** Runs statements past the driver. */
export async function plainly(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
