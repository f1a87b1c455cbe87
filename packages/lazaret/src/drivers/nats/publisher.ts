import type { PublishResult } from '../../ports/broker.ts';
import type { Msg } from './client.ts';
import type { Parcel } from './outgoing.ts';
import type { Questions } from './questions.ts';
import { unfit } from './refusals.ts';

/** More on the way at once gains nothing, and a server that falls behind would lose the connection. */
const AT_ONCE = 1_000;
const BYTES_AT_ONCE = 8 * 1024 * 1024;
const NO_RESPONDERS = 503;
/** What JetStream says where a limit of the stream stands against it. */
const LIMIT =
  /^(?:maximum (?:messages|bytes)|message size exceeds|resource limits exceeded|insufficient (?:resources|storage))|sealed/i;

/** Each confirmed by the stream that stored it. */
export async function publishAll(questions: Questions, parcels: readonly Parcel[]): Promise<readonly PublishResult[]> {
  const results: PublishResult[] = [];
  for (let from = 0; from < parcels.length; ) {
    const to = endOfWindow(parcels, from);
    const answers = await questions.ask(parcels.slice(from, to));
    for (const answer of answers) results.push(resultOf(answer));
    from = to;
  }
  return results;
}

function endOfWindow(parcels: readonly Parcel[], from: number): number {
  let bytes = 0;
  let to = from;
  while (to < parcels.length && to - from < AT_ONCE && bytes < BYTES_AT_ONCE) bytes += parcels[to++]!.body.length;
  return to;
}

interface PubAck {
  readonly seq?: unknown;
  readonly error?: { readonly description?: unknown };
}

function resultOf(answer: Msg | Error | undefined): PublishResult {
  if (answer === undefined || answer instanceof Error) return answer ?? 'unknown';
  if (answer.headers?.code === NO_RESPONDERS) return 'unroutable';
  const { seq, error } = parsed(answer);
  if (error === undefined) return typeof seq === 'number' ? 'done' : 'unknown';
  const why = String(error.description ?? 'no reason given').slice(0, 300);
  return LIMIT.test(why) ? 'refused' : unfit(`NATS stores no message: ${why}`, 'Look at its stream.');
}

/** n.b. whoever else listens on the subject may answer too, with whatever he likes. */
function parsed(answer: Msg): PubAck {
  try {
    const value = answer.json<unknown>();
    return typeof value === 'object' && value !== null ? (value as PubAck) : {};
  } catch {
    return {};
  }
}
