import { type ErrorCode, LazaretError } from '../../core/errors.ts';

/** What JetStream says by number. */
export const API = { consumerNotFound: 10014, noMessage: 10037, streamNotFound: 10059 } as const;
const NOT_ENABLED: readonly number[] = [10039, 10076];

/** What went wrong while connecting, in words that say what to do. */
export function connectError(thrown: unknown, servers: string, user: string): LazaretError {
  const at = `NATS at ${servers}`;
  if (/authoriz|authentication/i.test(`${nameOf(thrown)} ${textOf(thrown)}`)) {
    const who = user === '' ? 'a login without user' : `the login of user '${user}'`;
    return error('LZ1131', `${at} refuses ${who}`, 'Correct user and password, or the token.', thrown);
  }
  return error('LZ1130', `${at} cannot be reached: ${reasonOf(thrown)}`, 'Start it, or correct the address.', thrown);
}

/** What the server said to a request, or that it said nothing. */
export function requestError(thrown: unknown, what: string): LazaretError {
  if (thrown instanceof LazaretError) return thrown;
  const code = apiCodeOf(thrown);
  if ((code !== undefined && NOT_ENABLED.includes(code)) || nameOf(thrown) === 'JetStreamNotEnabled') {
    return withoutJetStream(thrown);
  }
  if (code !== undefined)
    return error('LZ1132', `NATS refuses ${what}: ${reasonOf(thrown)}`, 'Look at its plan.', thrown);
  if (/permission/i.test(`${nameOf(thrown)} ${textOf(thrown)}`)) {
    return error('LZ1132', `NATS refuses ${what}: no rights`, 'Give the user the rights to it.', thrown);
  }
  return error('LZ1130', `NATS did not answer to ${what}: ${reasonOf(thrown)}`, 'Try again later.', thrown);
}

function withoutJetStream(cause: unknown): LazaretError {
  return error('LZ1132', 'The NATS server has no JetStream for this account', "Start it with 'jetstream {}'.", cause);
}

export function tooOld(version: string, least: string): LazaretError {
  return error('LZ1132', `The NATS server is of version ${version}`, `Use ${least} or newer.`, undefined);
}

export function missingQueue(queue: string, cause?: unknown): LazaretError {
  return error('LZ1302', `There is no queue '${queue}'`, 'Provision it, or correct its name.', cause);
}

export function unfit(what: string, todo: string): LazaretError {
  return error('LZ1132', what, todo, undefined);
}

export function unsendable(what: string): LazaretError {
  return error(
    'LZ1119',
    `The message cannot be sent: ${what}`,
    'Put what is large into a store, and its address into the message.',
    undefined,
  );
}

export function unanswered(what: string, cause?: unknown): LazaretError {
  return error('LZ1130', `NATS did not answer to ${what}`, 'It is asked again.', cause);
}

export function closedError(what: string): LazaretError {
  return new LazaretError('LZ1102', `The ${what} is closed.`);
}

/** The number of a refusal by JetStream's API. */
export function apiCodeOf(thrown: unknown): number | undefined {
  if (!nameOf(thrown).startsWith('JetStreamApiError') && !/NotFoundError$/.test(nameOf(thrown))) return undefined;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

function reasonOf(thrown: unknown): string {
  const [line = ''] = textOf(thrown).split('\n', 1);
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  return line.slice(0, 300) || (typeof code === 'string' ? code : 'no reason given');
}

function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause instanceof Error ? thrown.cause.message : '';
  return thrown.message || cause;
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name || thrown.constructor.name : '';
}

function error(code: ErrorCode, what: string, hint: string, cause: unknown): LazaretError {
  return new LazaretError(code, `${what}.`, cause === undefined ? { hint } : { hint, cause });
}
