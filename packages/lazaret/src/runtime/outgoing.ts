import { parseDuration } from '../core/duration.ts';
import { LazaretError } from '../core/errors.ts';
import type { HeaderList } from '../core/message.ts';
import type { Broker, OutgoingMessage, PublishResult } from '../ports/broker.ts';

export interface SendOptions {
  /** The event's id, never an entity's: retries, replays and deduplication know it by it. A fresh one by default. */
  readonly id?: string;
  /** Ordering key. */
  readonly key?: string;
  readonly headers?: HeaderList;
  /** Not before so long from now: '5m'. */
  readonly delay?: string;
  /** A second message with it, inside the broker's window, is not stored. */
  readonly dedupeId?: string;
}

/** Sends one message; resolves when it is durable. Rejects with LZ1208 where the broker refused it or could not say what became of it. */
export async function send(
  broker: Broker,
  queue: string,
  body: unknown,
  options: SendOptions,
  freshId: () => string,
): Promise<void> {
  const { delay, id, ...rest } = options;
  const message: OutgoingMessage = { ...rest, id: id ?? freshId(), body: encode(body) };
  const [result] = await broker.publish(
    queue,
    [message],
    delay === undefined ? {} : { delayMs: parseDuration(delay, 'delay') },
  );
  if (result !== 'done') throw refusal(queue, message.id!, result);
}

/** Bytes go as they are, `null` as a tombstone, and everything else as JSON. */
function encode(body: unknown): Uint8Array | null {
  if (body === null || body instanceof Uint8Array) return body;
  const text = JSON.stringify(body);
  if (text === undefined) {
    throw new LazaretError('LZ1002', `a body of type '${typeof body}' cannot be sent.`, {
      hint: 'Send bytes, null, or a value that JSON can say.',
    });
  }
  return new TextEncoder().encode(text);
}

function refusal(queue: string, id: string, result: PublishResult | undefined): LazaretError {
  const what = `message '${id}' was not sent to queue '${queue}'`;
  if (result === 'unknown') {
    return new LazaretError(
      'LZ1208',
      `whether message '${id}' reached queue '${queue}' is unknown: the confirmation was lost.`,
      {
        hint: 'Send it again with the same id.',
      },
    );
  }
  if (result instanceof Error) return new LazaretError('LZ1208', `${what}: ${result.message}`, { cause: result });
  return new LazaretError('LZ1208', `${what}: the broker says '${result ?? 'nothing'}'.`);
}
