import { afterAll, test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { Owner, rabbitHarness } from './rabbitmq/harness.ts';
import { onServers } from './rabbitmq/server.ts';

await onServers('conformance', async (server) => {
  const owner = new Owner(server);
  afterAll(() => owner.end());
  await conformance({ name: server.name, test, open: () => rabbitHarness(owner) });
});
