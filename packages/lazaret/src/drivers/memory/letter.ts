import { clip } from '../../core/clip.ts';
import type { Evidence } from '../../core/evidence.ts';
import { HEADER } from '../../core/headers.ts';
import type { HeaderList, Message } from '../../core/message.ts';
import { headerText, withHeader } from '../../core/message.ts';

/** A dead letter as it lies in its queue. */
export interface Letter {
  readonly message: Message;
  /** Absent where none can be read. */
  readonly evidence?: Evidence;
}

const BUDGET_BYTES = 4096;

/** `headers` with the evidence, cut down step by step until it fits 4 KiB. */
export function withEvidence(headers: HeaderList, evidence: Evidence): HeaderList {
  const texts = [evidence, shortened(evidence), bare(evidence)].map((candidate) => JSON.stringify(candidate));
  return withHeader(
    headers,
    HEADER.evidence,
    texts.find((text) => Buffer.byteLength(text) <= BUDGET_BYTES) ?? texts[2]!,
  );
}

export function letterOf(message: Message): Letter {
  const text = headerText(message.headers, HEADER.evidence);
  if (text === undefined) return { message };
  try {
    return { message, evidence: JSON.parse(text) as Evidence };
  } catch {
    return { message };
  }
}

function shortened(evidence: Evidence): Evidence {
  const { error, ...rest } = evidence;
  const brief = { ...rest, why: clip(rest.why, 200) };
  return error === undefined
    ? brief
    : { ...brief, error: { name: error.name, message: clip(error.message, 500), causes: [] } };
}

function bare({ error: _, ...evidence }: Evidence): Evidence {
  return { ...evidence, why: clip(evidence.why, 200) };
}
