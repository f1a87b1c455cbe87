export type { Case, ConformanceOptions, Harness, Letter, QueueOptions } from './conformance/index.ts';
export { conformance } from './conformance/index.ts';
export type { ManualSystemOptions } from './manual-system.ts';
export { ManualSystem } from './manual-system.ts';
