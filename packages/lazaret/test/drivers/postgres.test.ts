import { afterAll, test } from 'vitest';
import { openPostgres } from '../../src/drivers/postgres/index.ts';
import { realSystem } from '../../src/system.ts';
import { conformance } from '../../src/testing/index.ts';
import { postgresHarness } from './postgres/harness.ts';
import { freshSchema, onPostgres, plainly } from './postgres/server.ts';

await onPostgres('conformance', async (url) => {
  const schema = freshSchema();
  const own = await openPostgres({ url, schema, system: realSystem });
  afterAll(async () => {
    await own.close();
    await plainly(url, `DROP SCHEMA ${schema} CASCADE`);
  });
  await conformance({ name: 'postgres', test, open: () => postgresHarness(url, schema, own) });
});
