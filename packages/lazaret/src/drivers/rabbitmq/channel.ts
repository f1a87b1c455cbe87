import { within } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { AmqpChannel, AmqpConnection, AmqpError } from './amqplib.ts';

const ANSWER_WITHIN_MS = 8_000;

/** Why connections ended: a channel that ends with its connection is told nothing of that. */
const ENDS = new WeakMap<AmqpConnection, Error>();

export function noteEnd(connection: AmqpConnection, why: Error): void {
  ENDS.set(connection, why);
}

/** A channel of ours, and why it ended. n.b. a channel whose errors nobody listens to takes its whole connection along. */
export interface OpenChannel {
  readonly channel: AmqpChannel;
  readonly connection: AmqpConnection;
  /** Told at once, with the reason where the server gave one. */
  onEnd(told: (why: Error | undefined) => void): void;
  readonly isOpen: boolean;
  /** Nothing of it is ours any more, whether the server knows that already or not. */
  forsake(): void;
}

export async function openChannel(
  system: System,
  connection: AmqpConnection,
  kind: 'plain' | 'confirming' = 'plain',
): Promise<OpenChannel> {
  const opening = kind === 'plain' ? connection.createChannel() : connection.createConfirmChannel();
  const channel = await within(system, ANSWER_WITHIN_MS, opening, noAnswer);
  let isOpen = true;
  let why: AmqpError | undefined;
  const tell: ((why: Error | undefined) => void)[] = [];
  channel.on('error', (error) => {
    why = error;
  });
  channel.on('close', () => {
    isOpen = false;
    for (const told of tell) told(why);
  });
  return {
    channel,
    connection,
    onEnd: (told) => {
      tell.push(told);
    },
    get isOpen() {
      return isOpen;
    },
    forsake: () => {
      isOpen = false;
    },
  };
}

/** Asks the server something on a channel of its own, since a refusal ends the channel. */
export async function onChannel<T>(
  system: System,
  connection: AmqpConnection,
  ask: (channel: AmqpChannel) => Promise<T>,
): Promise<T> {
  const { channel } = await openChannel(system, connection);
  try {
    return await within(system, ANSWER_WITHIN_MS, ask(channel), noAnswer);
  } catch (error) {
    throw ENDS.get(connection) ?? error;
  } finally {
    closeQuietly(channel);
  }
}

/** What is closed already throws. */
export function closeQuietly(channel: AmqpChannel): void {
  Promise.resolve()
    .then(() => channel.close())
    .catch(() => undefined);
}

function noAnswer(): Error {
  return new Error(`no answer within ${ANSWER_WITHIN_MS} ms`);
}
