import { type Evidence, evidenceHeader, plainEvidenceHeaders, readEvidence } from './evidence.ts';
import { EVIDENCE_HEADER, HEADER } from './headers.ts';
import type { HeaderList, Message } from './message.ts';
import { headerText, withoutHeaders } from './message.ts';

/** A dead letter as it lies in its queue. */
export interface Letter {
  readonly message: Message;
  /** Absent where none can be read. */
  readonly evidence?: Evidence;
}

const EVIDENCE_BYTES = 4096;
const OURS: readonly string[] = [HEADER.evidence, ...Object.values(EVIDENCE_HEADER)];

/** `headers` with the evidence instead of an older one's: as one header for us, and as plain ones for others. */
export function withEvidence(
  headers: HeaderList,
  evidence: Evidence,
  budgetBytes: number = EVIDENCE_BYTES,
): HeaderList {
  const { text } = evidenceHeader(evidence, budgetBytes);
  const written: HeaderList = text === undefined ? [] : [[HEADER.evidence, text]];
  return [...withoutHeaders(headers, OURS), ...plainEvidenceHeaders(evidence), ...written];
}

export function letterOf(message: Message): Letter {
  const evidence = readEvidence(headerText(message.headers, HEADER.evidence) ?? '');
  return evidence === undefined ? { message } : { message, evidence };
}
