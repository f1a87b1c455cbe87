import { expect, it } from 'vitest';
import { Poison, Transient } from '../../src/index.ts';
import { resilientOn } from '../../src/runtime/resilient.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

const body = new TextEncoder().encode('{"order":1}');

it.each([
  ['acks what returns', () => undefined, {}, { verb: 'ack' }],
  [
    'retries what throws, with the next attempt',
    () => {
      throw new Error('x');
    },
    { attempt: 2 },
    { verb: 'retry', delayMs: 8_000, attempt: 3, why: 'Error: x' },
  ],
  [
    'honours what a dependency asks for',
    () => {
      throw new Transient('busy', { retryAfter: '1m' });
    },
    {},
    { verb: 'retry', delayMs: 60_000, attempt: 2 },
  ],
  [
    'quarantines the last failure',
    () => {
      throw new Error('x');
    },
    { attempt: 4 },
    { verb: 'quarantine', reason: 'exhausted' },
  ],
  [
    'quarantines poison at once',
    () => {
      throw new Poison('x');
    },
    {},
    { verb: 'quarantine', reason: 'poison' },
  ],
  ['does not run what crashed four times', () => undefined, { strikes: 4 }, { verb: 'quarantine', reason: 'crash' }],
])('%s', async (_, handler, facts, verdict) => {
  const decideOn = resilientOn(new ManualSystem(), handler, { jitter: 'none' });
  expect(await decideOn({ id: 'm', body, ...facts })).toMatchObject(verdict);
});

it('gives up a handler at its deadline', async () => {
  const system = new ManualSystem();
  const decideOn = resilientOn(system, () => new Promise(() => {}), { timeout: '5s', maxAttempts: 1 });
  const verdict = decideOn({ id: 'm', body });
  await system.advance(5_000);
  expect(await verdict).toMatchObject({ verb: 'quarantine', reason: 'handler-timeout' });
  expect(system.pending()).toBe(0);
});

it('reads a body that came as text', async () => {
  const seen: unknown[] = [];
  const decideOn = resilientOn(new ManualSystem(), (message) => void seen.push(message.json()), {});
  expect(await decideOn({ id: 'm', body: '{"order":"ä"}' })).toEqual({ verb: 'ack' });
  expect(seen).toEqual([{ order: 'ä' }]);
});
