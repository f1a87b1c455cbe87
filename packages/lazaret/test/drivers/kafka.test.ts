import { afterAll, test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { kafkaHarness, Owner } from './kafka/harness.ts';
import { onKafka } from './kafka/server.ts';

await onKafka('conformance', async (server) => {
  const owner = new Owner(server);
  afterAll(() => owner.end());
  await conformance({ name: 'Kafka', test, open: () => kafkaHarness(owner) });
});
