import type { Capabilities } from '../../ports/capabilities.ts';

/** Due times are plain numbers in a column; ten years is where a wait is rather a mistake. */
export const MAX_DELAY_MS: number = 3650 * 24 * 3600 * 1000;

/** All queues of a file are alike. */
export const CAPABILITIES: Capabilities = Object.freeze({
  failures: 'row',
  starts: 'pull',
  crashEvidence: 'exact',
  staleSettle: 'refused',
  order: 'key',
  retryKeepsOrder: true,
  release: 'free',
  maxDelayMs: MAX_DELAY_MS,
  delayGrainMs: 1,
  maxPublishDelayMs: MAX_DELAY_MS,
  lease: true,
  body: 'bytes',
  nullBody: true,
  headerBudgetBytes: 1024 * 1024,
  headerOrder: true,
  nativeExact: true,
  ackAnswered: true,
});
