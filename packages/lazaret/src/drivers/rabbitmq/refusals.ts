import { type ErrorCode, LazaretError } from '../../core/errors.ts';

/** Where a server was looked for, without the password. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly virtualHost: string;
}

/** What went wrong while connecting, in words that say what to do. */
export function connectError(thrown: unknown, place: Place): LazaretError {
  const text = messageOf(thrown);
  const at = `RabbitMQ at ${place.host}:${place.port}`;
  if (/\b403\b|ACCESS[_-]REFUSED/.test(text)) {
    return error('LZ1131', `${at} refuses the login of user '${place.user}'`, 'Correct user and password.', thrown);
  }
  // n.b. amqplib says neither code nor name when the virtual host is refused: only that the server closed instead of opening.
  if (/\b530\b|NOT_ALLOWED|Expected ConnectionOpenOk/.test(text)) {
    const hint = `Correct the virtual host, the path of the address ('/' is written '%2F'), or give '${place.user}' rights to it.`;
    return error('LZ1131', `${at} has no virtual host '${place.virtualHost}' for user '${place.user}'`, hint, thrown);
  }
  return error('LZ1130', `${at} cannot be reached: ${reasonOf(thrown)}`, 'Start it, or correct the address.', thrown);
}

/** What the server said to a request about `queue`. */
export function requestError(thrown: unknown, queue: string, what: string): LazaretError {
  switch (codeOf(thrown)) {
    case 404:
      return missingQueue(queue, thrown);
    case 403:
      return error('LZ1132', `RabbitMQ refuses ${what}: no rights`, 'Give the user the rights to it.', thrown);
    case 405:
      return error('LZ1132', `RabbitMQ refuses ${what}: it is in exclusive use`, 'End the other consumer.', thrown);
    case 406:
      return error('LZ1132', `RabbitMQ refuses ${what}: ${differenceIn(thrown)}`, 'Look at its plan.', thrown);
    default:
      return error('LZ1130', `RabbitMQ did not answer to ${what}: ${reasonOf(thrown)}`, 'Try again.', thrown);
  }
}

export function missingQueue(queue: string, cause?: unknown): LazaretError {
  return error('LZ1302', `There is no queue '${queue}'`, 'Provision it, or correct its name.', cause);
}

export function closedError(what: string): LazaretError {
  return new LazaretError('LZ1102', `The ${what} is closed.`);
}

/** A code that a channel was closed with; amqplib has it on the error, or only in the text. */
export function codeOf(thrown: unknown): number | undefined {
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code === 'number') return code;
  const said = /\b(40[3-6]|5[0-4][0-9])\b/.exec(messageOf(thrown))?.[1];
  return said === undefined ? undefined : Number(said);
}

/** 'x-message-ttl for queue …: received 1 but current is 2' of a long message. One difference is all that the server ever names. */
export function differenceIn(thrown: unknown): string {
  const text = messageOf(thrown);
  return /inequivalent arg .*/.exec(text)?.[0].replace(/"$/, '').slice(0, 300) ?? reasonOf(thrown);
}

function reasonOf(thrown: unknown): string {
  const [line = ''] = messageOf(thrown).split('\n', 1);
  // Node says nothing at all where several addresses were tried.
  const { code } = thrown as { readonly code?: unknown };
  return line.slice(0, 300) || (typeof code === 'string' ? code : 'no reason given');
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function error(code: ErrorCode, what: string, hint: string, cause: unknown): LazaretError {
  return new LazaretError(code, `${what}.`, { hint, cause });
}
