import { MAX_TABLE_DELAY_MS } from '../../core/table-delay.ts';
import type { Capabilities } from '../../ports/capabilities.ts';

/** All queues of a server are alike. */
export const CAPABILITIES: Capabilities = Object.freeze({
  failures: 'row',
  starts: 'pull',
  crashEvidence: 'exact',
  staleSettle: 'refused',
  order: 'none',
  retryKeepsOrder: false,
  release: 'free',
  maxDelayMs: MAX_TABLE_DELAY_MS,
  delayGrainMs: 1,
  maxPublishDelayMs: MAX_TABLE_DELAY_MS,
  lease: true,
  body: 'bytes',
  nullBody: true,
  headerBudgetBytes: 1024 * 1024,
  headerOrder: true,
  nativeExact: true,
  ackAnswered: true,
});
