import type { Evidence } from '../../core/evidence.ts';
import { EVIDENCE_HEADER } from '../../core/headers.ts';
import type { HeaderList } from '../../core/message.ts';
import type { Delivery, OutgoingMessage } from '../../ports/broker.ts';

const OUR_EVIDENCE: readonly string[] = Object.values(EVIDENCE_HEADER);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message that is told from others by its text. */
export function message(text: string, rest: Omit<OutgoingMessage, 'body'> = {}): OutgoingMessage {
  return { id: `id-${text}`, body: encoder.encode(text), ...rest };
}

/** 'm1', 'm2', … */
export function messages(count: number): OutgoingMessage[] {
  return Array.from({ length: count }, (_, i) => message(`m${i + 1}`));
}

/** The texts of `messages(count)`, sorted. */
export function textsOfMessages(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `m${i + 1}`).sort();
}

export function textOf({ message: { body } }: Delivery): string {
  return body === null ? 'null' : decoder.decode(body);
}

export function textsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(textOf).sort();
}

/** Headers that are not ours: what a producer wrote, in the order in which it arrived. */
export function foreign(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !name.startsWith('lazaret-') && !OUR_EVIDENCE.includes(name));
}

/** The same, to be compared: a broker may know only one of text and bytes, so both are written as UTF-8 in hex. */
export function foreignInHex(headers: HeaderList): string[] {
  return foreign(headers).map(([name, value]) => `${name}=${Buffer.from(value).toString('hex')}`);
}

export function evidence(delivery: Delivery, rest: Partial<Evidence> = {}): Evidence {
  return {
    reason: 'poison',
    queue: delivery.source.queue,
    attempts: delivery.attempt,
    strikes: delivery.strikes ?? 0,
    firstSeenAt: delivery.firstSeenAt,
    deadAt: delivery.firstSeenAt + 1,
    fingerprint: 'v1:0123456789abcdef',
    why: 'Error: customer is empty',
    error: { name: 'Error', message: 'customer is empty', causes: [] },
    ...rest,
  };
}
