import type { Capabilities } from '../../ports/capabilities.ts';
import { HEADER_BUDGET_BYTES } from './outgoing.ts';
import type { QueueType } from './topology.ts';

const DAY_MS = 24 * 3_600_000;

/** The same on all versions. What differs between them is in `versions.ts`. */
export function capabilitiesOf(type: QueueType, consumerTimeoutMs: number): Capabilities {
  return { ...QUORUM, ...(type === 'quorum' ? {} : { crashEvidence: 'flag' }), heldAtMostMs: consumerTimeoutMs };
}

const QUORUM: Capabilities = {
  failures: 'copy',
  starts: 'pull',
  crashEvidence: 'count',
  staleSettle: 'accepted',
  order: 'none',
  retryKeepsOrder: false,
  release: 'hold',
  maxDelayMs: DAY_MS,
  delayGrainMs: 1,
  maxPublishDelayMs: DAY_MS,
  lease: false,
  body: 'bytes',
  nullBody: false,
  headerBudgetBytes: HEADER_BUDGET_BYTES,
  headerOrder: false,
  nativeExact: true,
  ackAnswered: false,
};
