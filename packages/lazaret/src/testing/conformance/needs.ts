import type { Capabilities } from '../../ports/capabilities.ts';

/** What was found out about a driver before the first case. */
export interface Examinee {
  /** Of a plain queue. */
  readonly capabilities: Capabilities;
  /** Of one that was asked to keep the order of keys. */
  readonly ordered: Capabilities;
  readonly hasJournal: boolean;
  readonly hasAlone: boolean;
  readonly hasBrowse: boolean;
  readonly canBeCut: boolean;
  readonly takesOver: boolean;
  readonly dedupes: boolean;
  readonly hasNative: boolean;
}

/** What a case asks of a driver. `reason` says why it is not applicable where that is missing. */
export interface Need {
  readonly reason: string;
  isMet(examinee: Examinee): boolean;
}

const need = (reason: string, isMet: Need['isMet']): Need => ({ reason, isMet });

export const LEASES: Need = need('deliveries have no lease', ({ capabilities }) => capabilities.lease);

export const REFUSES_STALE: Need = need(
  'the broker does not promise to refuse a late settle',
  ({ capabilities }) => capabilities.staleSettle === 'refused',
);

export const COUNTS_FAILURES: Need = need(
  'failures are counted by a journal that lives elsewhere',
  ({ capabilities, hasJournal }) => capabilities.failures !== 'journal' || hasJournal,
);

export const COUNTS_STARTS: Need = need(
  'starts whose owner vanished are not known exactly at the hand-out',
  ({ capabilities }) => capabilities.starts === 'pull' && capabilities.crashEvidence === 'exact',
);

export const SETS_ASIDE: Need = need('the driver sets no suspects aside', ({ hasAlone }) => hasAlone);

export const OWN_JOURNAL: Need = need('the subscription has no journal of its own', ({ hasJournal }) => hasJournal);

export const ORDER: Need = need('no order of keys is promised', ({ ordered }) => ordered.order === 'key');

export const RETRY_KEEPS_ORDER: Need = need(
  'a retry comes back behind its successors',
  ({ ordered }) => ordered.retryKeepsOrder,
);

export const CUT: Need = need('nothing is lost with a connection', ({ canBeCut }) => canBeCut);

export const STAYS: Need = need('whoever joins may take over what others hold', ({ takesOver }) => !takesOver);

export const ANSWERED_ACKS: Need = need('acks are not answered', ({ capabilities }) => capabilities.ackAnswered);

export const PUBLISH_DELAY: Need = need(
  'nothing can be published with a delay',
  ({ capabilities }) => capabilities.maxPublishDelayMs > 0,
);

export const NULL_BODY: Need = need('null and empty bodies are one', ({ capabilities }) => capabilities.nullBody);

export const HEADER_ORDER: Need = need(
  'the order of headers is not kept',
  ({ capabilities }) => capabilities.headerOrder,
);

export const COPIES_FAILURES: Need = need(
  'the attempt does not travel in a header',
  ({ capabilities }) => capabilities.failures === 'copy',
);

export const DEDUPE: Need = need('the broker does not dedupe', ({ dedupes }) => dedupes);

export const NATIVE: Need = need('the driver has no envelope of its own', ({ hasNative }) => hasNative);

export const BROWSE: Need = need('the driver cannot browse', ({ hasBrowse }) => hasBrowse);
