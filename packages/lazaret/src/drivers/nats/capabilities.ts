import type { Capabilities } from '../../ports/capabilities.ts';
import { HEADER_BUDGET_BYTES } from './outgoing.ts';

const DAY_MS = 24 * 3_600_000;

/** `inFlightLimit`: how many may be leased or waiting for their next try at once (`max_ack_pending`); absent where there is none. */
export function capabilitiesOf(inFlightLimit: number | undefined): Capabilities {
  return inFlightLimit === undefined ? JETSTREAM : { ...JETSTREAM, inFlightLimit };
}

const JETSTREAM: Capabilities = {
  failures: 'journal',
  starts: 'journal',
  crashEvidence: 'none',
  // Tried on 2.9.10: a late ack removes what is in other hands, a late nak has it delivered once more, a late extension hides it.
  staleSettle: 'accepted',
  order: 'none',
  retryKeepsOrder: false,
  release: 'counted',
  maxDelayMs: 365 * DAY_MS,
  delayGrainMs: 1,
  maxPublishDelayMs: 0,
  lease: true,
  body: 'bytes',
  nullBody: false,
  headerBudgetBytes: HEADER_BUDGET_BYTES,
  headerOrder: false,
  nativeExact: false,
  ackAnswered: true,
};
