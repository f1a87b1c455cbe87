import type { Broker, OutgoingMessage, QueueFacts } from 'lazaret';
import type { LineNames } from './line-names.ts';
import type { Line, Lines } from './lines.ts';
import type { Pulse } from './pulse.ts';
import type { Tally } from './tally.ts';

/** Messages that may wait in the queue. More would only make the file larger: they are handled in the order of the input anyway. */
const WAITING_AT_MOST = 2_000;

const BATCH_LINES = 500;
const BATCH_BYTES = 4 * 1024 * 1024;
const LOOK_MS = 50;

export interface Feed {
  readonly input: AsyncIterable<Lines>;
  readonly queue: string;
  readonly broker: Pick<Broker, 'publish' | 'inspect'>;
  readonly names: LineNames;
  /** Lines that were sent into this file before are not sent again. */
  readonly remembers: boolean;
  readonly tally: Tally;
  readonly pulse: Pulse;
  readonly stop: AbortSignal;
  /** Called now and then. */
  progress(): void;
}

/** Sends the lines of the input, never more than wait for their turn. Resolves at the end of the input, or when it is stopped. Rejects where the broker refuses. */
export async function feed(feed: Feed): Promise<void> {
  const { input, tally, stop } = feed;
  for await (const read of input) {
    tally.read(read);
    for (const batch of batches(read.lines)) {
      await room(feed);
      if (stop.aborted) return;
      await send(batch, feed);
    }
    feed.progress();
    if (stop.aborted) return;
  }
}

async function send(batch: readonly Line[], { queue, broker, names, remembers, tally }: Feed): Promise<void> {
  const messages = batch.map(
    (line): OutgoingMessage => ({
      id: names.idOf(line),
      body: line.bytes,
      ...(remembers ? { dedupeId: names.dedupeIdOf(line) } : {}),
    }),
  );
  const results = await broker.publish(queue, messages);
  tally.sent(results.filter((result) => result === 'done').length);
  const refused = results.find((result) => result !== 'done');
  if (refused !== undefined) throw refused instanceof Error ? refused : new Error(`the broker answers '${refused}'`);
}

/** n.b. lines that are known from an earlier run are never heard of again, so the tally alone would wait for them for ever. */
async function room({ broker, queue, tally, pulse, stop }: Feed): Promise<void> {
  while (tally.open >= WAITING_AT_MOST && !stop.aborted) {
    if (inQueue(await broker.inspect(queue)) < WAITING_AT_MOST) return;
    await pulse.next(LOOK_MS);
  }
}

/** Messages that are neither done nor dead. */
export function inQueue({ ready = 0, delayed = 0, leased = 0 }: QueueFacts): number {
  return ready + delayed + leased;
}

function* batches(lines: readonly Line[]): Generator<readonly Line[]> {
  let batch: Line[] = [];
  let bytes = 0;
  for (const line of lines) {
    batch.push(line);
    bytes += line.bytes.byteLength;
    if (batch.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
