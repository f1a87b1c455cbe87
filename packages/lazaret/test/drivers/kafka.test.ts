import { afterAll, test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { kafkaHarness, Owner } from './kafka/harness.ts';
import { onKafka } from './kafka/server.ts';

await onKafka('conformance', async (server) => {
  const owner = new Owner(server);
  afterAll(() => owner.end());
  // n.b. cases wait for the server most of the time, each on a queue of its own.
  const side = (name: string, run: () => Promise<void>) => test.concurrent(name, run);
  await conformance({ name: 'Kafka', test: side, open: () => kafkaHarness(owner) });
});
