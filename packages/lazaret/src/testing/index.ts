export type { Case, ConformanceOptions, Harness, Letter, QueueOptions } from './conformance/index.ts';
export { conformance } from './conformance/index.ts';
export type { FakeContext, FakeContextOptions, TestMessage } from './handlers.ts';
export { fakeContext, received } from './handlers.ts';
export type { ManualSystemOptions } from './manual-system.ts';
export { ManualSystem } from './manual-system.ts';
export * from './simulation/index.ts';
export * from './world/index.ts';
