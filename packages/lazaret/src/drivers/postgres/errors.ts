import { isLazaretError, LazaretError } from '../../core/errors.ts';

/** There was no connection: what was asked did not happen. */
export class Unsent extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/** Five characters of SQLSTATE where the server said it; the code of Node where the connection failed. */
function codeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** The server answered: what was asked did not happen. Else nobody knows. */
export function wasAnswered(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !isConnectionLost(error);
}

/** The connection went, or the server is going: another try may meet a better moment. */
function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return /^(08|57P0[1-5])/.test(code);
}

/** Two transactions stood in each other's way; the server gave up ours, and nothing of it happened. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes(codeOf(error) ?? '');
}

/** The value of a row, and no other row, is what the server refuses. */
export function isUnfit(error: unknown): boolean {
  return /^(22|54)/.test(codeOf(error) ?? '');
}

/** The connection to another database ended here: there are no tables of ours, or not all of them. */
export function isMissing(error: unknown): boolean {
  return ['42P01', '3F000', '42883', '42704'].includes(codeOf(error) ?? '');
}

/** What went wrong with the database at `place`, for people: no SQL, and the client's own error only as the cause. */
export function explained(error: unknown, place: string): Error {
  if (isLazaretError(error)) return error;
  if (error instanceof Unsent) return explained(error.cause, place);
  const code = codeOf(error) ?? '';
  if (/^28/.test(code) || code === '3D000') {
    const what = code === '3D000' ? 'has no such database' : 'refuses the login';
    return say(
      'LZ1131',
      `PostgreSQL at ${place} ${what}: ${firstLine(error)}.`,
      'Look at user, password and database in the address.',
    );
  }
  if (code === '42501') {
    return say(
      'LZ1132',
      `PostgreSQL at ${place} refuses it: ${firstLine(error)}.`,
      "Grant the rights that the driver's page lists, or let somebody with more of them provision it.",
    );
  }
  if (/^53/.test(code)) {
    return say(
      'LZ1132',
      `PostgreSQL at ${place} has no room: ${firstLine(error)}.`,
      'Look at its disk, its memory and max_connections.',
    );
  }
  if (code === '57014')
    return say(
      'LZ1120',
      `PostgreSQL at ${place} took too long over a statement.`,
      "Look for locks and load, or raise 'statementTimeout'.",
    );
  if (isUnfit(error)) return say('LZ1119', `PostgreSQL at ${place} cannot store it: ${firstLine(error)}.`);
  if (wasAnswered(error)) return say('LZ1120', `PostgreSQL at ${place} failed (${code}): ${firstLine(error)}.`);
  return say(
    'LZ1130',
    `PostgreSQL at ${place} cannot be reached: ${firstLine(error)}.`,
    'Is it up, and does it listen there? The driver goes on trying.',
  );

  function say(kind: ConstructorParameters<typeof LazaretError>[0], message: string, hint?: string): LazaretError {
    return new LazaretError(kind, message, hint === undefined ? { cause: error } : { hint, cause: error });
  }
}

function firstLine(error: unknown): string {
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? error);
  return text.split('\n', 1)[0]!.slice(0, 200).replace(/\.$/, '');
}
