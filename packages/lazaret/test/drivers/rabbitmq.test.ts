import { expect, test } from 'vitest';
import { conformance } from '../../src/testing/index.ts';
import { rabbitHarness } from './rabbitmq/harness.ts';
import { isRequired, reason } from './rabbitmq/server.ts';

if (reason === undefined) {
  await conformance({ name: 'rabbitmq', test, open: () => rabbitHarness() });
} else if (isRequired) {
  test('rabbitmq: conformance', () => expect(reason).toBeUndefined());
} else {
  test.skip(`rabbitmq: conformance (${reason})`, () => undefined);
}
