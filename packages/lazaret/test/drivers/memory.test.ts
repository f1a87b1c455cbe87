import { it } from 'vitest';
import type { MemoryOptions } from '../../src/drivers/memory/index.ts';
import { conformance } from '../../src/testing/conformance/index.ts';
import { memoryHarness } from './memory-harness.ts';

const SHAPES: readonly (readonly [name: string, options: MemoryOptions])[] = [
  ['table', { shape: 'table' }],
  ['table with ghost polls', { shape: 'table', ghostPolls: true }],
  ['channel', { shape: 'channel' }],
  ['channel with a single active consumer', { shape: 'channel', singleActive: true }],
  ['log', { shape: 'log', sessionMs: 1_000 }],
];

for (const [name, options] of SHAPES) {
  await conformance({ name, test: it, open: () => memoryHarness(options) });
}
