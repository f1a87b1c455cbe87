import type { Evidence, Reason } from '../../core/evidence.ts';
import { fingerprint } from '../../core/fingerprint.ts';
import type { System } from '../../ports/system.ts';
import { messageOf } from './arrival.ts';
import type { Inbox, JetStreamManager, Msg, NatsConnection } from './client.ts';
import { letterParcel } from './outgoing.ts';
import { publishAll } from './publisher.ts';
import type { Questions } from './questions.ts';
import type { Place } from './topology.ts';

/** What a server says of a message that it delivers no more: a pointer, without the message. */
interface Advisory {
  readonly consumer: string;
  readonly sequence: number;
  readonly deliveries: number;
  readonly reason: Reason;
  readonly why: string;
}

export interface AdvisoryParts {
  readonly system: System;
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly questions: Questions;
  readonly place: Place;
  readonly mostBytes: () => number;
}

const KINDS: readonly (readonly [kind: string, reason: Reason])[] = [
  ['MAX_DELIVERIES', 'exhausted'],
  ['MSG_TERMINATED', 'manual'],
];
const NO_BYTES = new Uint8Array(0);

/**
 * Makes letters of what consumers of this stream gave up, whoever they are: the payload is fetched at once, before the stream lets
 * go of it. Of several processes that listen one gets it. What is said while nobody listens is lost, as the server means it.
 */
export function listenForAdvisories(parts: AdvisoryParts): readonly Inbox[] {
  const { connection, place } = parts;
  return KINDS.map(([kind, reason]) =>
    connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.${kind}.${place.stream}.*`, {
      queue: `lazaret-${place.consumer}`,
      callback: (error, message) => {
        const advisory = error === null ? readAdvisory(message, reason) : undefined;
        // n.b. without an answer of the server there is nothing to be done, and the message stays where it is.
        if (advisory !== undefined) toLetter(parts, advisory).catch(() => undefined);
      },
    }),
  );
}

function readAdvisory(message: Msg, reason: Reason): Advisory | undefined {
  try {
    const { consumer, stream_seq, deliveries, reason: said } = message.json<Record<string, unknown>>();
    if (typeof consumer !== 'string' || typeof stream_seq !== 'number' || !(stream_seq >= 1)) return undefined;
    const count = typeof deliveries === 'number' && deliveries >= 0 ? Math.floor(deliveries) : 0;
    const why =
      reason === 'exhausted'
        ? `consumer '${consumer}' gave it up after ${count} deliveries`
        : `consumer '${consumer}' terminated it${typeof said === 'string' && said !== '' ? `: ${said.slice(0, 300)}` : ''}`;
    return { consumer, sequence: stream_seq, deliveries: count, reason, why };
  } catch {
    return undefined;
  }
}

async function toLetter(parts: AdvisoryParts, advisory: Advisory): Promise<void> {
  const { system, manager, questions, place, mostBytes } = parts;
  const { stream, letters } = place;
  const { sequence, deliveries, reason, consumer } = advisory;
  const stored = await manager.streams.getMessage(stream, { seq: sequence });
  // n.b. of a stream of several queues each makes its own letters.
  if (stored !== null && place.isShared && place.subject !== undefined && stored.subject !== place.subject) return;
  const now = system.now();
  const position = `${stream}:${sequence}`;
  const message = messageOf({ data: stored?.data ?? NO_BYTES, headers: stored?.header }, position);
  const firstSeenAt = stored === null ? now : Math.min(stored.time.getTime(), now);
  const evidence: Evidence = {
    reason,
    queue: `${stream}/${consumer}`,
    attempts: deliveries,
    strikes: 0,
    firstSeenAt,
    deadAt: now,
    fingerprint: fingerprint({ reason }),
    why: stored === null ? `${advisory.why}; its payload was gone` : advisory.why,
    position,
    deliveries,
  };
  const original = { stream, consumer, sequence, storedAt: stored?.timestamp ?? '' };
  const parcel = letterParcel(letters, original, { message, firstSeenAt }, evidence, mostBytes());
  await publishAll(questions, [parcel]);
}
