import { isLazaretError, LazaretError } from '../../core/errors.ts';

/** What the server answered: 'WRONGPASS', 'OOM', 'NOGROUP'. `undefined` where it did not answer. */
export function replyCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  // n.b. an error in a script begins with its own words.
  return /^(?:ERR )?(?:Error running script.*?|user_script.*?)?-?\b([A-Z]{3,})\b/.exec(error.message)?.[1] ?? 'ERR';
}

export function isMissingGroup(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && error.message.includes('NOGROUP');
}

export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** The connection was not there: what was asked did not happen. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && /isn't writeable|enableOfflineQueue/.test(error.message);
}

/** What went wrong with the server at `place`, for people; the client's own error only as the cause. */
export function explained(error: unknown, place: string): Error {
  if (isLazaretError(error)) return error;
  const said = firstLine(error);
  switch (replyCode(error)) {
    case undefined:
      return say(
        'LZ1130',
        `Redis at ${place} cannot be reached: ${said}.`,
        'Is it up, and does it listen there? The driver goes on trying.',
      );
    case 'WRONGPASS':
    case 'NOAUTH':
      return say(
        'LZ1131',
        `Redis at ${place} refuses the login: ${said}.`,
        'Look at user and password in the address.',
      );
    case 'NOPERM':
      return say(
        'LZ1132',
        `Redis at ${place} refuses it: ${said}.`,
        "Give the user the rights that the driver's page lists.",
      );
    case 'OOM':
      return say(
        'LZ1132',
        `Redis at ${place} has no memory left: ${said}.`,
        "Raise 'maxmemory', or look at what fills it. What it holds is not touched.",
      );
    case 'READONLY':
    case 'MASTERDOWN':
    case 'LOADING':
    case 'CLUSTERDOWN':
    case 'MISCONF':
      return say(
        'LZ1130',
        `Redis at ${place} takes no writes now: ${said}.`,
        'It may be on its way up, or be a replica. The driver goes on trying.',
      );
    case 'WRONGTYPE':
      return say(
        'LZ1132',
        `Redis at ${place} keeps something else under this name: ${said}.`,
        'Name a queue whose key is a stream, or is free.',
      );
    default:
      return say('LZ1120', `Redis at ${place} failed: ${said}.`);
  }

  function say(kind: ConstructorParameters<typeof LazaretError>[0], message: string, hint?: string): LazaretError {
    return new LazaretError(kind, message, hint === undefined ? { cause: error } : { hint, cause: error });
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n', 1)[0]!
    .slice(0, 200)
    .replace(/\.$/, '');
}
