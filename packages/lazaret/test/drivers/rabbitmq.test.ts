import { test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { rabbitHarness } from './rabbitmq/harness.ts';
import { onServers } from './rabbitmq/server.ts';

await onServers('conformance', (server) => conformance({ name: server.name, test, open: () => rabbitHarness(server) }));
