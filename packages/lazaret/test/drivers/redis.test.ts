import { afterAll, test } from 'vitest';
import { openRedis } from '../../src/drivers/redis/index.ts';
import { realSystem } from '../../src/system.ts';
import { conformance } from '../../src/testing/index.ts';
import { redisHarness } from './redis/harness.ts';
import { onRedis } from './redis/server.ts';

await onRedis('conformance', async (url) => {
  const own = await openRedis({ url, system: realSystem });
  afterAll(() => own.close());
  await conformance({ name: 'redis', test, open: () => redisHarness(url, own) });
});
