import { type ErrorCode, LazaretError } from '../../core/errors.ts';
import { AUTHENTICATION, type KafkaFailure, NO_KAFKA } from './client.ts';

/** What went wrong while connecting, in words that say what to do. `brokers` carries no password. */
export function connectError(failure: KafkaFailure, brokers: string, user: string | undefined): LazaretError {
  const { code, message } = failure;
  if (code === AUTHENTICATION) {
    const who = user === undefined ? '' : ` of user '${user}'`;
    const hint = 'Correct user, password, mechanism and certificates.';
    return error('LZ1131', `Kafka at ${brokers} refuses the login${who}: ${first(message)}`, hint, failure);
  }
  if (code === NO_KAFKA) {
    const what = `What answers at ${brokers} is no Kafka, or one older than 0.10: ${first(message)}`;
    return error('LZ1130', what, 'Correct the address, or upgrade the server.', failure);
  }
  return error(
    'LZ1130',
    `No Kafka answers at ${brokers}: ${first(message)}`,
    'Start it, or correct the address.',
    failure,
  );
}

/** What the group said when we wanted to join. */
export function joinError(failure: KafkaFailure, queue: string, group: string): LazaretError {
  const what = `Kafka refuses to let us read '${queue}' as group '${group}': ${first(failure.message)}`;
  return error('LZ1132', what, 'Give the user rights to topic and group, or use another group.', failure);
}

/** Why a copy of ours was not stored. */
export function sendError(failure: KafkaFailure, topic: string): LazaretError {
  if (isUnknownTopic(failure)) return missingTopic(topic, failure);
  if (isTooLarge(failure)) {
    return error(
      'LZ1119',
      `A record is larger than the topic '${topic}' takes: ${first(failure.message)}`,
      "Raise the topic's max.message.bytes and the option maxMessage.",
      failure,
    );
  }
  if (failure.code === 29) {
    return error(
      'LZ1132',
      `Kafka refuses to write to '${topic}': no rights`,
      'Give the user the rights to it.',
      failure,
    );
  }
  return error(
    'LZ1130',
    `Kafka did not confirm a record for '${topic}': ${first(failure.message)}`,
    'Try again.',
    failure,
  );
}

/** What the server said to a request about `what`. */
export function requestError(failure: KafkaFailure, what: string): LazaretError {
  const code = failure.code === 29 || failure.code === 31 || failure.code > 36 ? 'LZ1132' : 'LZ1130';
  return error(code, `Kafka refuses ${what}: ${first(failure.message)}`, 'Look at its log.', failure);
}

export function missingTopic(topic: string, cause?: unknown): LazaretError {
  return error('LZ1302', `There is no topic '${topic}'`, 'Provision it, or correct its name.', cause);
}

export function closedError(what: string): LazaretError {
  return new LazaretError('LZ1102', `The ${what} is closed.`);
}

/** Of the broker, and what the client says for it. */
export function isUnknownTopic({ code }: KafkaFailure): boolean {
  return code === 3 || code === -188 || code === -190;
}

export function isTooLarge({ code }: KafkaFailure): boolean {
  return code === 10 || code === 18;
}

/** Nobody knows whether it was stored. */
export function isUnanswered({ code }: KafkaFailure): boolean {
  return code === -192 || code === -185 || code === -195;
}

function first(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line.slice(0, 300);
}

function error(code: ErrorCode, what: string, hint: string, cause: unknown): LazaretError {
  return new LazaretError(code, `${what}.`, { hint, cause });
}
