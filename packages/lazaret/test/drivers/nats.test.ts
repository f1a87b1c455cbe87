import { afterAll, test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { natsHarness, Owner } from './nats/harness.ts';
import { onNats } from './nats/server.ts';

await onNats('conformance', async (server) => {
  const owner = new Owner(server);
  await owner.begin();
  afterAll(() => owner.end());
  await conformance({ name: 'NATS', test, open: () => natsHarness(owner) });
});
