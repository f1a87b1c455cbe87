import type { Capabilities } from '../../ports/capabilities.ts';
import { LONGEST_DELAY_MS } from './tiers.ts';

/** The broker's own limit for a record is a megabyte by default, body included. */
export const HEADER_BUDGET_BYTES = 900_000;

export const CAPABILITIES: Capabilities = Object.freeze({
  failures: 'copy',
  starts: 'journal',
  crashEvidence: 'exact',
  staleSettle: 'accepted',
  order: 'key',
  retryKeepsOrder: false,
  release: 'hold',
  maxDelayMs: LONGEST_DELAY_MS,
  delayGrainMs: 1,
  // n.b. a topic has readers of many groups, and only one of them would see what waits in its retry tiers.
  maxPublishDelayMs: 0,
  lease: false,
  body: 'bytes',
  nullBody: true,
  headerBudgetBytes: HEADER_BUDGET_BYTES,
  headerOrder: true,
  nativeExact: false,
  ackAnswered: true,
});
