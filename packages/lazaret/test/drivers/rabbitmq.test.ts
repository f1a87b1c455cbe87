import { test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { rabbitHarness } from './rabbitmq/harness.ts';
import { onServer } from './rabbitmq/server.ts';

await onServer('rabbitmq: conformance', () => conformance({ name: 'rabbitmq', test, open: () => rabbitHarness() }));
