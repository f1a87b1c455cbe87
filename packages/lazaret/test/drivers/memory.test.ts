import { it } from 'vitest';
import type { MemoryOptions } from '../../src/drivers/memory/index.ts';
import { conformance } from '../../src/testing/conformance/index.ts';
import { memoryHarness } from './memory-harness.ts';

const VARIANTS: readonly (readonly [name: string, options: MemoryOptions])[] = [
  ['table', { shape: 'table' }],
  ['table with ghost polls', { shape: 'table', ghostPolls: true }],
  ['table that delays by whole seconds', { shape: 'table', limits: { delayGrainMs: 1_000 } }],
  ['channel', { shape: 'channel' }],
  ['channel with a single active consumer', { shape: 'channel', singleActive: true }],
  ['channel that counts every release', { shape: 'channel', release: 'counted' }],
  ['log', { shape: 'log', sessionMs: 1_000 }],
  ['log of one partition', { shape: 'log', sessionMs: 1_000, partitions: 1 }],
];

for (const [name, options] of VARIANTS) {
  await conformance({ name, test: it, open: () => memoryHarness(options) });
}
